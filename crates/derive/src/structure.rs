//! Structures.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    DataStruct, DeriveInput, Error, Expr, Fields, GenericArgument, LitInt, PathArguments, Result,
    Type,
};

use crate::attributes::{MemberAttributes, TypeAttributes};
use crate::duplicate;
use crate::held;

/// Member ids have 28 bits. XTypes 1.3 §7.2.2.4.4.4.4.
const ID_MAX: u32 = 0x0fff_ffff;

struct MemberModel<'a> {
    ident: &'a Ident,
    ty: Type,
    name: String,
    id: u32,
    key: bool,
    optional: bool,
    default: Option<Expr>,
    bound: Option<LitInt>,
}

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataStruct,
    attributes: &TypeAttributes,
) -> Result<TokenStream> {
    refuse_enum_attributes(input, attributes)?;
    let members = members(input, data)?;
    let keyed = members.iter().any(|member| member.key);
    let ident = &input.ident;
    let consts = consts(&members, attributes.appendable, keyed);
    let values = values(&members, attributes.appendable);
    let keys = keys(&members, attributes.appendable, keyed);
    let description = description(&members, attributes);
    let assertions = assertions(&members);
    let topic = topic(ident, attributes, keyed);
    Ok(quote! {
        #assertions
        #description
        #[automatically_derived]
        impl __dds::DdsValue for #ident {
            #consts
            #values
            #keys
            fn kind() -> __dds::Kind {
                __dds::Kind::Named(&__DDS_DESCRIPTION)
            }
        }
        #topic
    })
}

/// The `DdsType` implementation of a structure or union, unless it is nested.
pub(crate) fn topic(ident: &Ident, attributes: &TypeAttributes, keyed: bool) -> TokenStream {
    if attributes.nested {
        return TokenStream::new();
    }
    let name = &attributes.name;
    let extensibility = attributes.extensibility();
    quote! {
        #[automatically_derived]
        impl __dds::DdsType for #ident {
            const TYPE_NAME: &'static str = #name;
            const EXTENSIBILITY: __dds::Extensibility = #extensibility;
            const KEYED: bool = #keyed;
            fn describe() -> &'static __dds::TypeDescription {
                &__DDS_DESCRIPTION
            }
        }
    }
}

fn refuse_enum_attributes(input: &DeriveInput, attributes: &TypeAttributes) -> Result<()> {
    if let Some(discriminator) = &attributes.discriminator {
        return Err(Error::new(
            discriminator.span(),
            "only an enum has a discriminator",
        ));
    }
    if let Some((_, span)) = attributes.bit_bound {
        return Err(Error::new(
            span,
            "only an enum without data has a bit bound",
        ));
    }
    if attributes.name.is_empty() {
        return Err(Error::new_spanned(&input.ident, "a type needs a name"));
    }
    Ok(())
}

fn members<'a>(input: &'a DeriveInput, data: &'a DataStruct) -> Result<Vec<MemberModel<'a>>> {
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(
            &input.ident,
            "a DDS structure needs members with names",
        ));
    };
    let mut members: Vec<MemberModel<'a>> = Vec::new();
    for field in &fields.named {
        let attributes = MemberAttributes::parse(&field.attrs)?;
        let Some(ident) = &field.ident else { continue };
        let id = match &attributes.id {
            Some(literal) => literal.base10_parse()?,
            None => members.last().map_or(0, |last| last.id.saturating_add(1)),
        };
        let span = attributes.id.as_ref().map_or(ident.span(), LitInt::span);
        if id > ID_MAX {
            return Err(Error::new(
                span,
                "a member id is at most 268435455 (28 bits)",
            ));
        }
        if let Some(other) = members.iter().find(|other| other.id == id) {
            let text = format!("member id {id} is already that of `{}`", other.name);
            return Err(Error::new(span, text));
        }
        let optional = argument_of(&field.ty, "Option").is_some();
        if let (Some(span), true) = (attributes.key, optional || attributes.optional) {
            return Err(Error::new(span, "a key member cannot be optional"));
        }
        members.push(MemberModel {
            ident,
            ty: named(&field.ty, &input.ident)?,
            name: attributes
                .rename
                .unwrap_or_else(|| ident.unraw().to_string()),
            id,
            key: attributes.key.is_some(),
            optional: attributes.optional,
            default: attributes.default,
            bound: attributes.bound,
        });
    }
    if members.is_empty() {
        return Err(Error::new_spanned(
            &input.ident,
            "a DDS structure needs at least one member",
        ));
    }
    Ok(members)
}

/// `ty` with `name` for `Self`, which has no meaning outside of the implementation.
pub(crate) fn named(ty: &Type, name: &Ident) -> Result<Type> {
    syn::parse2(replaced(ty.to_token_stream(), name))
}

fn replaced(tokens: TokenStream, name: &Ident) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => TokenTree::Ident(name.clone()),
        TokenTree::Group(group) => {
            let inner = replaced(group.stream(), name);
            TokenTree::Group(Group::new(group.delimiter(), inner))
        }
        other => other,
    });
    tokens.collect()
}

/// `T` of `wrapper<T>`.
fn argument_of<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if last.ident == wrapper => Some(inner),
        _ => None,
    }
}

fn assertions(members: &[MemberModel<'_>]) -> TokenStream {
    members
        .iter()
        .map(|member| {
            let MemberModel { ty, .. } = member;
            let optional = quote!(<#ty as __dds::Member>::OPTIONAL);
            if member.key {
                quote_spanned!(ty.span() => const _: () = ::core::assert!(
                    !#optional, "a key member cannot be optional"
                );)
            } else if member.optional {
                quote_spanned!(ty.span() => const _: () = ::core::assert!(
                    #optional, "an optional member must be an Option"
                );)
            } else {
                TokenStream::new()
            }
        })
        .collect()
}

fn consts(members: &[MemberModel<'_>], appendable: bool, keyed: bool) -> TokenStream {
    let sizes = members.iter().map(|member| {
        let ty = &member.ty;
        quote!(.saturating_add(<#ty as __dds::Member>::MIN_SIZE))
    });
    // An appendable structure may come without its last members, but behind a DHEADER.
    let at_most = if appendable {
        quote!(4usize)
    } else {
        quote!(usize::MAX)
    };
    let bounds = by_id(members, keyed).into_iter().map(|member| {
        let ty = &member.ty;
        let ty = match argument_of(ty, "Box") {
            Some(inner) if member.key => inner,
            _ => ty,
        };
        match &member.bound {
            Some(bound) => quote!(.then(__dds::bounded::key_bounds::<#ty>(#bound))),
            None => quote!(.then(<#ty as __dds::Member>::KEY_BOUNDS)),
        }
    });
    quote! {
        const SHAPE: __dds::Shape = __dds::Shape::Composite;
        const MIN_SIZE: usize = {
            let sum = 0usize #(#sizes)*;
            let at_most = #at_most;
            if sum < at_most { sum } else { at_most }
        };
        const KEY_BOUNDS: __dds::KeyBounds = __dds::KeyBounds::EMPTY #(#bounds)*;
    }
}

/// The members that make the key: all where none is marked, in the order of their ids.
fn by_id<'a, 'b>(members: &'b [MemberModel<'a>], keyed: bool) -> Vec<&'b MemberModel<'a>> {
    let mut keys: Vec<_> = members.iter().filter(|m| m.key || !keyed).collect();
    keys.sort_by_key(|member| member.id);
    keys
}

fn values(members: &[MemberModel<'_>], appendable: bool) -> TokenStream {
    let encoded = members
        .iter()
        .map(|member| encode(member, &format_ident!("encode_member")));
    let encoded = delimit(appendable, &quote!(#(#encoded)*));
    let decoded = members.iter().map(|member| {
        let ident = member.ident;
        let value = decode(member, appendable, &format_ident!("decode_member"));
        quote!(#ident: #value,)
    });
    let decoded = within(
        appendable,
        &quote!(::core::result::Result::Ok(Self { #(#decoded)* })),
    );
    let by_header = appendable.then(|| {
        quote! {
            if input.skip_appendable()? {
                return ::core::result::Result::Ok(());
            }
        }
    });
    let skipped = members.iter().map(|member| {
        let MemberModel { ty, id, .. } = member;
        quote!(<#ty as __dds::Member>::skip_member(#id, input)?;)
    });
    let missing = members.iter().map(|member| {
        let ident = member.ident;
        let value = missing(member);
        quote!(#ident: #value,)
    });
    let held = held::of_structure(members.iter().map(|it| (it.ident, &it.ty)));
    let parts = members
        .iter()
        .map(|it| (it.ident, &it.ty, it.bound.as_ref()));
    let duplicate = duplicate::of_structure(parts);
    quote! {
        #held
        #duplicate
        #[inline]
        fn encode(&self, out: &mut __dds::Encoder<'_>) {
            #encoded
        }
        #[inline]
        fn decode(
            input: &mut __dds::Decoder<'_>,
        ) -> ::core::result::Result<Self, __dds::Reject> {
            #decoded
        }
        fn skip(input: &mut __dds::Decoder<'_>) -> ::core::result::Result<(), __dds::Reject> {
            #by_header
            #(#skipped)*
            ::core::result::Result::Ok(())
        }
        #[allow(unused_variables)]
        fn missing(
            input: &mut __dds::Decoder<'_>,
        ) -> ::core::result::Result<Self, __dds::Reject> {
            ::core::result::Result::Ok(Self { #(#missing)* })
        }
    }
}

fn keys(members: &[MemberModel<'_>], appendable: bool, keyed: bool) -> TokenStream {
    let method = format_ident!("encode_key_member");
    let declared: Vec<_> = members.iter().filter(|m| m.key || !keyed).collect();
    let sorted = by_id(members, keyed);
    let in_order = declared
        .iter()
        .zip(&sorted)
        .all(|(one, other)| one.id == other.id);
    let as_declared = declared.iter().map(|member| encode(member, &method));
    let encoded = if in_order {
        quote!(#(#as_declared)*)
    } else {
        // XTypes 1.3 §7.6.8.3: a key hash takes members in the order of their ids.
        let as_sorted = sorted.iter().map(|member| encode(member, &method));
        quote! {
            if out.is_key_holder() {
                #(#as_sorted)*
            } else {
                #(#as_declared)*
            }
        }
    };
    let encoded = delimit(appendable, &encoded);
    let decoded = members.iter().map(|member| {
        let ident = member.ident;
        let value = if member.key || !keyed {
            decode(member, appendable, &format_ident!("decode_key_member"))
        } else {
            missing(member)
        };
        quote!(#ident: #value,)
    });
    let decoded = within(
        appendable,
        &quote!(::core::result::Result::Ok(Self { #(#decoded)* })),
    );
    let transcode = in_order.then(|| transcode(members, appendable, keyed));
    quote! {
        fn encode_key(&self, out: &mut __dds::Encoder<'_>) {
            #encoded
        }
        fn decode_key(
            input: &mut __dds::Decoder<'_>,
        ) -> ::core::result::Result<Self, __dds::Reject> {
            #decoded
        }
        #transcode
    }
}

fn transcode(members: &[MemberModel<'_>], appendable: bool, keyed: bool) -> TokenStream {
    let copy = |member: &MemberModel<'_>| {
        let MemberModel { ty, id, .. } = member;
        let copied = quote!(<#ty as __dds::Member>::transcode_key_member(#id, input, out)?;);
        if !appendable {
            return copied;
        }
        let value = missing(member);
        quote! {
            if input.is_exhausted() {
                let value: #ty = #value;
                <#ty as __dds::Member>::encode_key_member(&value, #id, out);
            } else {
                #copied
            }
        }
    };
    let is_key = |member: &MemberModel<'_>| member.key || !keyed;
    let from_key = members.iter().filter(|member| is_key(member)).map(copy);
    let last_key = members.iter().rposition(is_key).unwrap_or(0);
    let from_sample = members.iter().enumerate().map(|(position, member)| {
        let MemberModel { ty, id, .. } = member;
        let skipped = quote!(<#ty as __dds::Member>::skip_member(#id, input)?;);
        match (is_key(member), appendable) {
            (true, _) => copy(member),
            (false, false) => skipped,
            // Behind the last key the DHEADER leads past the rest.
            (false, true) if position > last_key => quote! {
                if input.representation() == __dds::Representation::Xcdr1 { #skipped }
            },
            (false, true) => quote!(if !input.is_exhausted() { #skipped }),
        }
    });
    let body = delimit(
        appendable,
        &quote! {
            if input.is_key_only() {
                #(#from_key)*
            } else {
                #(#from_sample)*
            }
        },
    );
    let body = within(
        appendable,
        &quote!({ #body ::core::result::Result::Ok(()) }),
    );
    quote! {
        fn transcode_key(
            input: &mut __dds::Decoder<'_>,
            out: &mut __dds::Encoder<'_>,
        ) -> ::core::result::Result<(), __dds::Reject> {
            #body
        }
    }
}

/// Puts what `body` writes behind a DHEADER.
pub(crate) fn delimit(appendable: bool, body: &TokenStream) -> TokenStream {
    if !appendable {
        return body.clone();
    }
    quote! {
        let delimiter = out.begin_appendable();
        #body
        out.end(delimiter);
    }
}

/// Reads the result `body` from behind a DHEADER.
pub(crate) fn within(appendable: bool, body: &TokenStream) -> TokenStream {
    if !appendable {
        return body.clone();
    }
    quote!(input.appendable(|input| #body))
}

fn encode(member: &MemberModel<'_>, method: &Ident) -> TokenStream {
    let MemberModel { ident, ty, id, .. } = member;
    let checked = member
        .bound
        .as_ref()
        .map(|bound| quote!(out.check_bound(__dds::Bounded::bounded_len(&self.#ident), #bound);));
    quote! {
        #checked
        <#ty as __dds::Member>::#method(&self.#ident, #id, out);
    }
}

fn decode(member: &MemberModel<'_>, appendable: bool, method: &Ident) -> TokenStream {
    let MemberModel { ty, id, .. } = member;
    let mut value = quote!(<#ty as __dds::Member>::#method(#id, input)?);
    if let Some(bound) = &member.bound {
        value = quote!({
            let value = #value;
            input.check_bound(__dds::Bounded::bounded_len(&value), #bound)?;
            value
        });
    }
    if !appendable {
        return value;
    }
    let missing = missing(member);
    quote!(if input.is_exhausted() { #missing } else { #value })
}

fn missing(member: &MemberModel<'_>) -> TokenStream {
    let ty = &member.ty;
    match &member.default {
        Some(default) => quote!(#default),
        None => quote!(<#ty as __dds::Member>::missing_member(input)?),
    }
}

fn description(members: &[MemberModel<'_>], attributes: &TypeAttributes) -> TokenStream {
    let name = &attributes.name;
    let extensibility = attributes.extensibility();
    let members = members.iter().map(|member| {
        let MemberModel {
            ty, name, id, key, ..
        } = member;
        let bound = match &member.bound {
            Some(bound) => quote!(::core::option::Option::Some(#bound)),
            None => quote!(::core::option::Option::None),
        };
        quote! {
            __dds::MemberDescription {
                name: #name,
                id: #id,
                key: #key,
                optional: <#ty as __dds::Member>::OPTIONAL,
                bound: #bound,
                kind: <#ty as __dds::Member>::member_kind,
            }
        }
    });
    quote! {
        static __DDS_DESCRIPTION: __dds::TypeDescription = __dds::TypeDescription {
            name: #name,
            extensibility: #extensibility,
            body: __dds::TypeBody::Struct(&[#(#members),*]),
        };
    }
}
