use whimbrel_derive::DdsType;

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct Tuple(i32);

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct Empty {}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct SameId {
    x: i32,
    #[dds(id = 0)]
    y: i32,
}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types", final, appendable)]
struct Both {
    #[dds(keey)]
    x: i32,
}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
struct Misspelt {
    #[dds(keey)]
    x: i32,
}

fn main() {}
