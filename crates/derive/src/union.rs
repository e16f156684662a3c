//! Enums with data: unions. XTypes 1.3 §7.2.2.4.4.3.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{DataEnum, DeriveInput, Error, Fields, Result, Type, Variant};

use crate::attributes::{TypeAttributes, VariantAttributes};
use crate::duplicate;
use crate::held;
use crate::structure::{delimit, named, topic, within};

struct CaseModel<'a> {
    ident: &'a Ident,
    /// Type and, where it has one, name of its value.
    value: Option<(Type, Option<&'a Ident>)>,
    name: String,
    labels: Vec<i64>,
    default: bool,
}

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataEnum,
    attributes: &TypeAttributes,
) -> Result<TokenStream> {
    if let Some((_, span)) = attributes.bit_bound {
        return Err(Error::new(
            span,
            "a union has a `discriminator` and no bit bound",
        ));
    }
    let selector = attributes
        .discriminator
        .clone()
        .unwrap_or_else(|| Ident::new("i32", Span::call_site()));
    let cases = cases(input, data, &selector)?;
    let ident = &input.ident;
    let values = values(&cases, &selector, attributes.appendable);
    let description = description(&cases, &selector, attributes);
    let bounds = cases.iter().filter_map(|case| {
        let (ty, _) = case.value.as_ref()?;
        Some(quote!(.or(<#ty as __dds::DdsValue>::KEY_BOUNDS)))
    });
    let topic = topic(ident, attributes, false);
    Ok(quote! {
        #description
        #[automatically_derived]
        #[allow(unreachable_patterns)]
        impl __dds::DdsValue for #ident {
            const SHAPE: __dds::Shape = __dds::Shape::Composite;
            const MIN_SIZE: usize = <#selector as __dds::DdsValue>::MIN_SIZE;
            const KEY_BOUNDS: __dds::KeyBounds = <#selector as __dds::DdsValue>::KEY_BOUNDS
                .then(__dds::KeyBounds::EMPTY #(#bounds)*);
            #values
            fn kind() -> __dds::Kind {
                __dds::Kind::Named(&__DDS_DESCRIPTION)
            }
        }
        #topic
    })
}

fn cases<'a>(
    input: &DeriveInput,
    data: &'a DataEnum,
    selector: &Ident,
) -> Result<Vec<CaseModel<'a>>> {
    let mut cases: Vec<CaseModel<'a>> = Vec::new();
    for variant in &data.variants {
        let attributes = VariantAttributes::parse(&variant.attrs)?;
        if let Some((_, expression)) = &variant.discriminant {
            return Err(Error::new_spanned(
                expression,
                "say `#[dds(case = …)]` in a union",
            ));
        }
        let mut labels: Vec<i64> = Vec::new();
        for (label, span) in &attributes.cases {
            check_label(*label, *span, selector)?;
            if labels.contains(label) || cases.iter().any(|case| case.labels.contains(label)) {
                return Err(Error::new(*span, format!("case {label} is already taken")));
            }
            labels.push(*label);
        }
        if let (Some(span), true) = (attributes.default, cases.iter().any(|case| case.default)) {
            return Err(Error::new(span, "a union has one default case"));
        }
        if labels.is_empty() && attributes.default.is_none() {
            let next = next_label(&cases);
            check_label(next, variant.ident.span(), selector)?;
            labels.push(next);
        }
        cases.push(CaseModel {
            ident: &variant.ident,
            value: value_of(variant, &input.ident)?,
            name: attributes
                .rename
                .unwrap_or_else(|| variant.ident.unraw().to_string()),
            labels,
            default: attributes.default.is_some(),
        });
    }
    choose_default_label(&mut cases, selector)?;
    Ok(cases)
}

/// The label after the last one given.
fn next_label(cases: &[CaseModel<'_>]) -> i64 {
    let last = cases.iter().rev().find_map(|case| case.labels.last());
    let mut next = last.map_or(0, |last| last.saturating_add(1));
    while cases.iter().any(|case| case.labels.contains(&next)) {
        next = next.saturating_add(1);
    }
    next
}

/// A default case without a label of its own is sent with the least one that is free.
fn choose_default_label(cases: &mut [CaseModel<'_>], selector: &Ident) -> Result<()> {
    let taken: Vec<i64> = cases.iter().flat_map(|case| case.labels.clone()).collect();
    let free = (0..).find(|label| !taken.contains(label)).unwrap_or(0);
    for case in cases.iter_mut().filter(|case| case.labels.is_empty()) {
        check_label(free, case.ident.span(), selector)?;
        case.labels.push(free);
    }
    Ok(())
}

fn check_label(label: i64, span: Span, selector: &Ident) -> Result<()> {
    let range = match selector.to_string().as_str() {
        "bool" => 0..=1,
        "i8" => i8::MIN.into()..=i8::MAX.into(),
        "u8" => 0..=u8::MAX.into(),
        "i16" => i16::MIN.into()..=i16::MAX.into(),
        "u16" => 0..=u16::MAX.into(),
        "i32" => i32::MIN.into()..=i32::MAX.into(),
        "u32" => 0..=u32::MAX.into(),
        "u64" => 0..=i64::MAX,
        _ => i64::MIN..=i64::MAX,
    };
    if range.contains(&label) {
        return Ok(());
    }
    Err(Error::new(
        span,
        format!("case {label} does not fit a discriminator of type {selector}"),
    ))
}

fn value_of<'a>(variant: &'a Variant, name: &Ident) -> Result<Option<(Type, Option<&'a Ident>)>> {
    let fields = match &variant.fields {
        Fields::Unit => return Ok(None),
        Fields::Named(fields) => &fields.named,
        Fields::Unnamed(fields) => &fields.unnamed,
    };
    match (fields.first(), fields.len()) {
        (Some(field), 1) => Ok(Some((named(&field.ty, name)?, field.ident.as_ref()))),
        _ => Err(Error::new_spanned(
            &variant.ident,
            "a case of a union holds one value: put several into a structure",
        )),
    }
}

fn literal(label: i64, selector: &Ident) -> TokenStream {
    if selector == "bool" {
        (label != 0).into_token_stream()
    } else {
        proc_macro2::Literal::i64_unsuffixed(label).into_token_stream()
    }
}

/// `Self::Case(value)` as a pattern or an expression.
fn shape(case: &CaseModel<'_>, value: &TokenStream) -> TokenStream {
    let ident = case.ident;
    match &case.value {
        None => quote!(Self::#ident),
        Some((_, None)) => quote!(Self::#ident(#value)),
        Some((_, Some(field))) => quote!(Self::#ident { #field: #value }),
    }
}

fn values(cases: &[CaseModel<'_>], selector: &Ident, appendable: bool) -> TokenStream {
    let writes = cases.iter().map(|case| {
        let pattern = shape(case, &quote!(value));
        let label = literal(case.labels.first().copied().unwrap_or(0), selector);
        let value = case
            .value
            .as_ref()
            .map(|(ty, _)| quote!(<#ty as __dds::DdsValue>::encode(value, out);));
        quote!(#pattern => { out.#selector(#label); #value })
    });
    let writes = delimit(appendable, &quote!(match self { #(#writes)* }));
    let reads = reads(cases, selector, appendable);
    let skips = arms(cases, selector, |case| match &case.value {
        Some((ty, _)) => quote!(<#ty as __dds::DdsValue>::skip(input)),
        None => quote!(::core::result::Result::Ok(())),
    });
    let by_header = appendable.then(|| {
        quote! {
            if input.skip_appendable()? {
                return ::core::result::Result::Ok(());
            }
        }
    });
    let missing = first_value(cases);
    let held = held::of_union(cases.iter().map(|case| {
        let ty = case.value.as_ref().map(|(ty, _)| ty);
        (shape(case, &quote!(value)), ty)
    }));
    let duplicate = duplicate::of_union(cases.iter().map(|case| {
        let ty = case.value.as_ref().map(|(ty, _)| ty);
        let shapes = [quote!(value), quote!(other)].map(|name| shape(case, &name));
        (shapes, ty)
    }));
    quote! {
        #held
        #duplicate
        #[inline]
        fn encode(&self, out: &mut __dds::Encoder<'_>) {
            #writes
        }
        #[inline]
        fn decode(
            input: &mut __dds::Decoder<'_>,
        ) -> ::core::result::Result<Self, __dds::Reject> {
            #reads
        }
        fn skip(input: &mut __dds::Decoder<'_>) -> ::core::result::Result<(), __dds::Reject> {
            #by_header
            match input.#selector()? { #skips }
        }
        #[allow(unused_variables)]
        fn missing(
            input: &mut __dds::Decoder<'_>,
        ) -> ::core::result::Result<Self, __dds::Reject> {
            ::core::result::Result::Ok(#missing)
        }
    }
}

/// Reads the discriminator and what it selects.
fn reads(cases: &[CaseModel<'_>], selector: &Ident, appendable: bool) -> TokenStream {
    let reads = arms(cases, selector, |case| {
        let made = shape(
            case,
            &case
                .value
                .as_ref()
                .map_or_else(TokenStream::new, |(ty, _)| {
                    let decoded = quote!(<#ty as __dds::DdsValue>::decode(input)?);
                    if appendable {
                        let missing = quote!(<#ty as __dds::DdsValue>::missing(input)?);
                        quote!(if input.is_exhausted() { #missing } else { #decoded })
                    } else {
                        decoded
                    }
                }),
        );
        quote!(::core::result::Result::Ok(#made))
    });
    within(appendable, &quote!(match input.#selector()? { #reads }))
}

fn arms(
    cases: &[CaseModel<'_>],
    selector: &Ident,
    result: impl Fn(&CaseModel<'_>) -> TokenStream,
) -> TokenStream {
    let named = cases.iter().map(|case| {
        let labels = case.labels.iter().map(|label| literal(*label, selector));
        let result = result(case);
        quote!(#(#labels)|* => #result,)
    });
    let other = match cases.iter().find(|case| case.default) {
        Some(default) => result(default),
        None => quote! {
            ::core::result::Result::Err(input.reject(__dds::RejectKind::EnumValue))
        },
    };
    quote!(#(#named)* _ => #other,)
}

/// The value of a union that was not sent: the default case, else the first that is not boxed
/// (a box may lead back to the union itself).
fn first_value(cases: &[CaseModel<'_>]) -> TokenStream {
    let unboxed = |case: &&CaseModel<'_>| {
        case.value
            .as_ref()
            .is_none_or(|(ty, _)| !ty.to_token_stream().to_string().contains("Box"))
    };
    let default = cases.iter().find(|case| case.default);
    let first = default
        .or_else(|| cases.iter().find(unboxed))
        .or_else(|| cases.first());
    first.map_or_else(TokenStream::new, |case| {
        let value = case
            .value
            .as_ref()
            .map(|(ty, _)| quote!(<#ty as __dds::DdsValue>::missing(input)?));
        shape(case, &value.unwrap_or_default())
    })
}

fn description(
    cases: &[CaseModel<'_>],
    selector: &Ident,
    attributes: &TypeAttributes,
) -> TokenStream {
    let name = &attributes.name;
    let extensibility = attributes.extensibility();
    let cases = cases.iter().map(|case| {
        let CaseModel {
            name,
            labels,
            default,
            ..
        } = case;
        let kind = match &case.value {
            Some((ty, _)) => {
                quote!(::core::option::Option::Some(<#ty as __dds::DdsValue>::kind))
            }
            None => quote!(::core::option::Option::None),
        };
        quote!(__dds::Case { name: #name, labels: &[#(#labels),*], default: #default, kind: #kind })
    });
    quote! {
        static __DDS_DESCRIPTION: __dds::TypeDescription = __dds::TypeDescription {
            name: #name,
            extensibility: #extensibility,
            body: __dds::TypeBody::Union {
                discriminator: <#selector as __dds::DdsValue>::kind,
                cases: &[#(#cases),*],
            },
        };
    }
}
