//! Enums without data: enumerations. XTypes 1.3 §7.2.2.4.1.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{DataEnum, DeriveInput, Error, Result};

use crate::attributes::{TypeAttributes, VariantAttributes, label};
use crate::duplicate;

struct LiteralModel<'a> {
    ident: &'a Ident,
    name: String,
    value: i32,
    default: bool,
}

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataEnum,
    attributes: &TypeAttributes,
) -> Result<TokenStream> {
    let bits = attributes.bit_bound.map_or(32, |(bits, _)| bits);
    let literals = literals(data, bits)?;
    let known = literals.iter().find(|literal| literal.default);
    let Some(first) = known.or(literals.first()) else {
        return Err(Error::new_spanned(
            &input.ident,
            "an enumeration needs a literal",
        ));
    };
    let ident = &input.ident;
    let number = format_ident!("i{bits}");
    let size = usize::from(bits) / 8;
    let names: Vec<_> = literals.iter().map(|literal| literal.ident).collect();
    let numbers: Vec<_> = literals
        .iter()
        .map(|literal| proc_macro2::Literal::i32_unsuffixed(literal.value))
        .collect();
    let unknown = match known {
        Some(LiteralModel { ident, .. }) => quote!(::core::result::Result::Ok(Self::#ident)),
        None => quote! {
            ::core::result::Result::Err(input.reject(__dds::RejectKind::EnumValue))
        },
    };
    let first = first.ident;
    let duplicate = duplicate::of_enumeration(&names);
    let description = description(&literals, bits, attributes);
    Ok(quote! {
        #description
        #[automatically_derived]
        #[allow(unreachable_patterns)]
        impl __dds::DdsValue for #ident {
            const SHAPE: __dds::Shape = __dds::Shape::Composite;
            const MIN_SIZE: usize = #size;
            const KEY_BOUNDS: __dds::KeyBounds = <#number as __dds::DdsValue>::KEY_BOUNDS;
            #[inline]
            fn encode(&self, out: &mut __dds::Encoder<'_>) {
                out.#number(match self { #(Self::#names => #numbers,)* });
            }
            #[inline]
            fn decode(
                input: &mut __dds::Decoder<'_>,
            ) -> ::core::result::Result<Self, __dds::Reject> {
                match input.#number()? {
                    #(#numbers => ::core::result::Result::Ok(Self::#names),)*
                    _ => #unknown,
                }
            }
            #duplicate
            fn skip(input: &mut __dds::Decoder<'_>) -> ::core::result::Result<(), __dds::Reject> {
                input.skip_numbers(1, #size)
            }
            fn missing(
                _input: &mut __dds::Decoder<'_>,
            ) -> ::core::result::Result<Self, __dds::Reject> {
                ::core::result::Result::Ok(Self::#first)
            }
            fn kind() -> __dds::Kind {
                __dds::Kind::Named(&__DDS_DESCRIPTION)
            }
        }
    })
}

fn literals(data: &DataEnum, bits: u8) -> Result<Vec<LiteralModel<'_>>> {
    let mut literals: Vec<LiteralModel<'_>> = Vec::new();
    for variant in &data.variants {
        let attributes = VariantAttributes::parse(&variant.attrs)?;
        if let Some((_, span)) = attributes.cases.first() {
            let text = "an enum without data has discriminants (`Red = 3`), not cases; say \
                        `#[dds(discriminator = \"i32\")]` to make it a union";
            return Err(Error::new(*span, text));
        }
        let next = literals
            .last()
            .map_or(0, |last| i64::from(last.value).saturating_add(1));
        let (value, span) = match &variant.discriminant {
            Some((_, expression)) => label(expression)?,
            None => (next, variant.ident.span()),
        };
        if let (Some(span), true) = (attributes.default, literals.iter().any(|l| l.default)) {
            return Err(Error::new(span, "an enumeration has one default literal"));
        }
        literals.push(LiteralModel {
            ident: &variant.ident,
            name: attributes
                .rename
                .unwrap_or_else(|| variant.ident.unraw().to_string()),
            value: fitting(value, bits, span)?,
            default: attributes.default.is_some(),
        });
    }
    Ok(literals)
}

fn fitting(value: i64, bits: u8, span: Span) -> Result<i32> {
    let fits = match bits {
        8 => i8::try_from(value).is_ok(),
        16 => i16::try_from(value).is_ok(),
        _ => true,
    };
    match i32::try_from(value) {
        Ok(value) if fits => Ok(value),
        _ => Err(Error::new(
            span,
            format!("{value} does not fit {bits} bits"),
        )),
    }
}

fn description(
    literals: &[LiteralModel<'_>],
    bits: u8,
    attributes: &TypeAttributes,
) -> TokenStream {
    let name = &attributes.name;
    let extensibility = attributes.extensibility();
    let literals = literals.iter().map(|literal| {
        let LiteralModel {
            name,
            value,
            default,
            ..
        } = literal;
        quote!(__dds::Literal { name: #name, value: #value, default: #default })
    });
    quote! {
        static __DDS_DESCRIPTION: __dds::TypeDescription = __dds::TypeDescription {
            name: #name,
            extensibility: #extensibility,
            body: __dds::TypeBody::Enumeration {
                bit_bound: #bits,
                literals: &[#(#literals),*],
            },
        };
    }
}
