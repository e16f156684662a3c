use whimbrel_derive::DdsType;

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct Sample {
    x: usize,
}

fn main() {}
