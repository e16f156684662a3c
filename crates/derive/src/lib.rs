//! `#[derive(DdsType)]`: the encodings of a user's types, written at compile time.
//!
//! The macro reads attributes (module `attributes`) and writes calls into `whimbrel-types`;
//! behaviour lives there, never here.
//!
//! # On the type
//! - `#[dds(appendable)]` (the default, XTypes 1.3 §7.3.3.1) or `#[dds(final)]`; mutable types
//!   are refused.
//! - `#[dds(rename = "module::Name")]`: its name on the bus; else that of the Rust type.
//! - `#[dds(nested)]`: never the type of a topic itself.
//! - `#[dds(crate = "path")]`: where the items of `whimbrel-types` are found; else
//!   `::whimbrel::types`.
//! - `#[dds(discriminator = "u8")]` on an enum with data: what selects a case, `i32` unless said.
//! - `#[dds(bit_bound = 8)]` on an enum without data: 8, 16 or 32 bits, 32 unless said.
//!
//! # On members of a structure
//! - `#[dds(key)]`: part of the key. `#[dds(id = 7)]`: its member id, else the one before plus 1.
//! - `#[dds(rename = "name")]`, `#[dds(bound = 128)]` for `String` and `Vec`.
//! - `#[dds(default)]` or `#[dds(default = expression)]`: its value where the writer's older type
//!   does not have it. `#[dds(optional)]`: says what `Option` says already.
//!
//! # On variants
//! - `#[dds(case = 3)]` or `#[dds(case = [3, 4])]` selects a case of a union.
//! - `#[dds(default)]` is chosen for every other discriminator or unknown number.
#![forbid(unsafe_code)]

mod attributes;
mod duplicate;
mod enumeration;
mod held;
mod structure;
mod union;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_macro_input};

use attributes::TypeAttributes;

/// Implements `DdsValue`, and `DdsType` for structures and unions; see the crate's page for the
/// attributes.
#[proc_macro_derive(DdsType, attributes(dds))]
pub fn derive_dds_type(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn expand(input: &DeriveInput) -> Result<proc_macro2::TokenStream> {
    let attributes = TypeAttributes::parse(input)?;
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "generic types are not supported: a DDS type has one name and one layout",
        ));
    }
    let body = match &input.data {
        Data::Struct(data) => structure::expand(input, data, &attributes)?,
        Data::Enum(data) => {
            let has_data = data
                .variants
                .iter()
                .any(|v| !matches!(v.fields, Fields::Unit));
            if has_data || attributes.discriminator.is_some() {
                union::expand(input, data, &attributes)?
            } else {
                enumeration::expand(input, data, &attributes)?
            }
        }
        Data::Union(data) => {
            return Err(Error::new_spanned(
                data.union_token,
                "Rust unions are not supported: an enum with data becomes a DDS union",
            ));
        }
    };
    let types = &attributes.types;
    Ok(quote! {
        #[allow(unused_qualifications, clippy::all, clippy::pedantic, clippy::restriction)]
        const _: () = {
            use #types as __dds;
            #body
        };
    })
}
