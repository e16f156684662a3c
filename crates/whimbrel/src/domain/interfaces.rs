//! The network interfaces of this host, for tools.

pub use whimbrel_net::interfaces::{Interface, InterfaceAddress};

use crate::error::Error;

/// Every network interface of this host that has an address, also those that no participant uses.
///
/// # Errors
/// The system does not tell.
pub fn system_interfaces() -> Result<Vec<Interface>, Error> {
    whimbrel_net::interfaces::list().map_err(Error::io("listing network interfaces"))
}
