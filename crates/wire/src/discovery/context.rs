//! What is known of an announcement besides its payload.

use whimbrel_base::limits::Limits;
use whimbrel_base::vendor::VendorId;

/// What is known of an announcement besides its payload.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Implementation of the sender, from the header of the message: vendor-specific parameters
    /// mean something only together with it.
    pub vendor: VendorId,
    /// Key hash from the inline QoS: the GUID where the payload lacks it.
    pub key_hash: Option<[u8; 16]>,
    /// How much of an announcement is taken.
    pub limits: &'a Limits,
}

impl Context<'_> {
    /// Nothing but the sender's implementation, with the default limits.
    pub const fn new(vendor: VendorId) -> Self {
        Self {
            vendor,
            key_hash: None,
            limits: &Limits::DEFAULT,
        }
    }
}
