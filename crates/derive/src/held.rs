//! What a value keeps beside its own size.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Type;

/// Of a structure with these members.
pub(crate) fn of_structure<'a>(
    members: impl Iterator<Item = (&'a Ident, &'a Type)>,
) -> TokenStream {
    let held = members.map(|(ident, ty)| {
        quote!(.saturating_add(<#ty as __dds::Member>::held_member_bytes(&self.#ident)))
    });
    quote! {
        fn held_bytes(&self) -> usize {
            0usize #(#held)*
        }
    }
}

/// Of a union with these patterns and the type of `value` in them, if there is one.
pub(crate) fn of_union<'a>(
    cases: impl Iterator<Item = (TokenStream, Option<&'a Type>)>,
) -> TokenStream {
    let held = cases.map(|(pattern, ty)| match ty {
        Some(ty) => quote!(#pattern => <#ty as __dds::DdsValue>::held_bytes(value),),
        None => quote!(#pattern => 0,),
    });
    quote! {
        fn held_bytes(&self) -> usize {
            match self { #(#held)* }
        }
    }
}
