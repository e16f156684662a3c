use whimbrel_derive::DdsType;

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct Sample {
    #[dds(key)]
    x: Option<i32>,
}

fn main() {}
