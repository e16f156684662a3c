use whimbrel_derive::DdsType;

#[derive(DdsType)]
#[dds(crate = "whimbrel_types", discriminator = "f32")]
enum Selector {
    A(i32),
}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
enum TwoValues {
    A(i32, i32),
}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types", discriminator = "u8")]
enum Labels {
    #[dds(case = 256)]
    A(i32),
}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types")]
enum Twice {
    #[dds(case = 1)]
    A(i32),
    #[dds(case = 1)]
    B(i32),
}

#[derive(DdsType)]
#[dds(crate = "whimbrel_types", bit_bound = 8)]
enum TooGreat {
    A = 128,
}

fn main() {}
