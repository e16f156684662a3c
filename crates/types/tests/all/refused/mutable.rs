use whimbrel_derive::DdsType;

#[derive(DdsType)]
#[dds(crate = "whimbrel_types", mutable)]
struct Sample {
    x: i32,
}

fn main() {}
