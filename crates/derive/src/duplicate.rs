//! Copies of values for readers of the same process.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{LitInt, Type};

/// Of a structure with these members and their bounds.
pub(crate) fn of_structure<'a>(
    members: impl Iterator<Item = (&'a Ident, &'a Type, Option<&'a LitInt>)> + Clone,
) -> TokenStream {
    let fits = members.clone().filter_map(|(ident, _, bound)| {
        let bound = bound?;
        Some(quote!(&& __dds::Bounded::bounded_len(&self.#ident) <= #bound))
    });
    let fits = quote!(true #(#fits)*);
    let made = members.clone().map(
        |(ident, ty, _)| quote!(#ident: <#ty as __dds::Member>::duplicate_member(&self.#ident)?,),
    );
    let filled = members.map(|(ident, ty, _)| {
        quote! {
            && <#ty as __dds::Member>::duplicate_member_into(&self.#ident, &mut other.#ident)
        }
    });
    quote! {
        #[inline]
        fn duplicate(&self) -> ::core::option::Option<Self> {
            if !(#fits) {
                return ::core::option::Option::None;
            }
            ::core::option::Option::Some(Self { #(#made)* })
        }
        #[inline]
        fn duplicate_into(&self, other: &mut Self) -> bool {
            #fits #(#filled)*
        }
    }
}

/// Of an enumeration of these literals.
pub(crate) fn of_enumeration(names: &[&Ident]) -> TokenStream {
    quote! {
        #[inline]
        fn duplicate(&self) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(match self { #(Self::#names => Self::#names,)* })
        }
    }
}

/// Of a union: its cases around a `value` and around an `other`, and the type of what is in them,
/// if anything is.
pub(crate) fn of_union<'a>(
    cases: impl Iterator<Item = ([TokenStream; 2], Option<&'a Type>)> + Clone,
) -> TokenStream {
    let made = cases.clone().map(|([case, _], ty)| {
        let value = ty.map(|ty| quote!(let value = <#ty as __dds::DdsValue>::duplicate(value)?;));
        quote!(#case => { #value #case })
    });
    let filled = cases.filter_map(|([case, other], ty)| {
        let ty = ty?;
        Some(quote! {
            (#case, #other) => <#ty as __dds::DdsValue>::duplicate_into(value, other),
        })
    });
    quote! {
        #[inline]
        fn duplicate(&self) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(match self { #(#made)* })
        }
        fn duplicate_into(&self, other: &mut Self) -> bool {
            match (self, other) {
                #(#filled)*
                (value, other) => {
                    let value = <Self as __dds::DdsValue>::duplicate(value);
                    value.map(|value| *other = value).is_some()
                }
            }
        }
    }
}
