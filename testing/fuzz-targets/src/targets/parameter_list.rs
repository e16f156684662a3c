//! A parameter list: the first octet is odd for little endian, the list follows.

use whimbrel_base::cursor::Endian;
use whimbrel_wire::parameter::ParameterList;

/// Checks a list and looks at every parameter; what was checked is understood again.
pub fn parameter_list(data: &[u8]) {
    let Some(list) = parse(data) else {
        return;
    };
    assert_eq!(
        ParameterList::parse(list.as_bytes(), list.endian()),
        Ok(list)
    );
    let octets: usize = list.iter().map(|parameter| parameter.value.len() + 4).sum();
    assert!(octets + 4 <= list.encoded_len());
    for parameter in list.iter().take(16) {
        assert!(list.find(parameter.id).is_some());
        assert_eq!(parameter.value.len() % 4, 0);
    }
}

/// The list behind the octet that names its byte order.
pub(super) fn parse(data: &[u8]) -> Option<ParameterList<'_>> {
    let (order, bytes) = data.split_first()?;
    ParameterList::parse(bytes, Endian::from_flag(order & 1 == 1)).ok()
}
