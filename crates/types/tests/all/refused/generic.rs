use whimbrel_derive::DdsType;

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct Sample<T> {
    x: T,
}

fn main() {}
