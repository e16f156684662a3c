//! Reads `#[dds(…)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, DeriveInput, Error, Expr, ExprLit, ExprUnary, Lit, LitInt, LitStr, Path, Result,
    Token, UnOp, bracketed, parse_quote, token,
};

/// Attributes of the type.
pub(crate) struct TypeAttributes {
    /// Name on the bus.
    pub(crate) name: String,
    /// May members be added at the end?
    pub(crate) appendable: bool,
    /// Never the type of a topic.
    pub(crate) nested: bool,
    /// Where the items of `whimbrel-types` are.
    pub(crate) types: Path,
    /// Type of a union's discriminator.
    pub(crate) discriminator: Option<Ident>,
    /// Bits of an enumeration.
    pub(crate) bit_bound: Option<(u8, Span)>,
}

const DISCRIMINATORS: [&str; 9] = ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"];

impl TypeAttributes {
    pub(crate) fn parse(input: &DeriveInput) -> Result<Self> {
        let mut found = Self {
            name: input.ident.unraw().to_string(),
            appendable: true,
            nested: false,
            types: parse_quote!(::whimbrel::types),
            discriminator: None,
            bit_bound: None,
        };
        let mut extensibility = None;
        each_word(&input.attrs, |meta| {
            let word = word_of(&meta)?;
            match word.as_str() {
                "final" | "appendable" => {
                    if extensibility
                        .replace(word.clone())
                        .is_some_and(|old| old != word)
                    {
                        return Err(meta.error("a type is either final or appendable"));
                    }
                    found.appendable = word == "appendable";
                }
                "mutable" => {
                    return Err(meta.error(
                        "mutable types are not supported yet; use `appendable` (members may be \
                         added at the end) or `final`",
                    ));
                }
                "nested" => found.nested = true,
                "rename" => found.name = text(&meta)?.value(),
                "crate" => found.types = text(&meta)?.parse()?,
                "discriminator" => found.discriminator = Some(discriminator(&text(&meta)?)?),
                "bit_bound" => found.bit_bound = Some(bit_bound(&meta)?),
                _ => {
                    return Err(meta.error(
                        "unknown attribute; a type has `final`, `appendable`, `nested`, `rename`, \
                         `crate`, `discriminator` and `bit_bound`",
                    ));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The extensibility as a path into `whimbrel-types`.
    pub(crate) fn extensibility(&self) -> TokenStream {
        if self.appendable {
            quote!(__dds::Extensibility::Appendable)
        } else {
            quote!(__dds::Extensibility::Final)
        }
    }
}

fn discriminator(text: &LitStr) -> Result<Ident> {
    let name = text.value();
    if DISCRIMINATORS.contains(&name.as_str()) {
        return Ok(Ident::new(&name, text.span()));
    }
    Err(Error::new(
        text.span(),
        format!("a discriminator is one of {}", DISCRIMINATORS.join(", ")),
    ))
}

fn bit_bound(meta: &ParseNestedMeta<'_>) -> Result<(u8, Span)> {
    let literal: LitInt = meta.value()?.parse()?;
    match literal.base10_parse() {
        Ok(bits @ (8 | 16 | 32)) => Ok((bits, literal.span())),
        _ => Err(Error::new(literal.span(), "a bit bound is 8, 16 or 32")),
    }
}

/// Attributes of a member of a structure.
#[derive(Default)]
pub(crate) struct MemberAttributes {
    pub(crate) key: Option<Span>,
    pub(crate) id: Option<LitInt>,
    pub(crate) optional: bool,
    pub(crate) rename: Option<String>,
    pub(crate) default: Option<Expr>,
    pub(crate) bound: Option<LitInt>,
}

impl MemberAttributes {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        each_word(attributes, |meta| {
            match word_of(&meta)?.as_str() {
                "key" => found.key = Some(meta.path.segments[0].ident.span()),
                "id" => found.id = Some(meta.value()?.parse()?),
                "optional" => found.optional = true,
                "rename" => found.rename = Some(text(&meta)?.value()),
                "bound" => found.bound = Some(meta.value()?.parse()?),
                "default" if meta.input.peek(Token![=]) => {
                    found.default = Some(meta.value()?.parse()?);
                }
                "default" => {
                    found.default = Some(parse_quote!(::core::default::Default::default()));
                }
                _ => {
                    return Err(meta.error(
                        "unknown attribute; a member has `key`, `id`, `optional`, `rename`, \
                         `bound` and `default`",
                    ));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Attributes of a variant.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) cases: Vec<(i64, Span)>,
    pub(crate) default: Option<Span>,
    pub(crate) rename: Option<String>,
}

impl VariantAttributes {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        each_word(attributes, |meta| {
            match word_of(&meta)?.as_str() {
                "case" => {
                    let value = meta.value()?;
                    if value.peek(token::Bracket) {
                        let list;
                        bracketed!(list in value);
                        for element in Punctuated::<Expr, Token![,]>::parse_terminated(&list)? {
                            found.cases.push(label(&element)?);
                        }
                    } else {
                        found.cases.push(label(&value.parse()?)?);
                    }
                }
                "default" => found.default = Some(meta.path.segments[0].ident.span()),
                "rename" => found.rename = Some(text(&meta)?.value()),
                _ => {
                    return Err(meta
                        .error("unknown attribute; a variant has `case`, `default` and `rename`"));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// An integer or boolean literal, perhaps negative.
pub(crate) fn label(expression: &Expr) -> Result<(i64, Span)> {
    let refused = || Error::new_spanned(expression, "expected an integer or boolean literal");
    let span = expression
        .to_token_stream()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span());
    let (negative, literal) = match expression {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => (true, &**expr),
        other => (false, other),
    };
    let Expr::Lit(ExprLit { lit, .. }) = literal else {
        return Err(refused());
    };
    let value = match lit {
        Lit::Bool(value) if !negative => i64::from(value.value),
        Lit::Int(value) => {
            let digits = value.base10_digits();
            let signed = if negative {
                format!("-{digits}")
            } else {
                digits.to_owned()
            };
            signed.parse().map_err(|_| refused())?
        }
        _ => return Err(refused()),
    };
    Ok((value, span))
}

fn each_word(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("dds")) {
        attribute.parse_nested_meta(&mut read)?;
    }
    Ok(())
}

fn word_of(meta: &ParseNestedMeta<'_>) -> Result<String> {
    Ok(meta.path.require_ident()?.to_string())
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}
