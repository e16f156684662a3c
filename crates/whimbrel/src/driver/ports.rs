//! Well-known ports. RTPS 2.5 §9.6.2.

/// PB.
const PORT_BASE: u32 = 7400;
/// DG.
const DOMAIN_GAIN: u32 = 250;
/// PG.
const PARTICIPANT_GAIN: u32 = 2;
/// d0.
const MULTICAST_OFFSET: u32 = 0;
/// d2.
const USER_MULTICAST_OFFSET: u32 = 1;
/// d1.
const UNICAST_OFFSET: u32 = 10;

/// Greatest domain whose ports exist.
pub(crate) const DOMAIN_MAX: u32 = 232;

/// Participant indices with well-known ports that do not run into the next domain's.
pub(crate) const INDEX_COUNT: u32 = 120;

/// Where discovery multicast of `domain` goes.
pub(crate) fn multicast(domain: u32) -> u16 {
    port(domain, MULTICAST_OFFSET)
}

/// Where data by multicast of `domain` goes.
pub(crate) fn user_multicast(domain: u32) -> u16 {
    port(domain, USER_MULTICAST_OFFSET)
}

/// Where the participant with `index` in `domain` listens for unicast discovery.
pub(crate) fn unicast(domain: u32, index: u32) -> u16 {
    port(domain, UNICAST_OFFSET + PARTICIPANT_GAIN * index)
}

fn port(domain: u32, offset: u32) -> u16 {
    // Domains up to DOMAIN_MAX with indices below INDEX_COUNT stay within 16 bits.
    u16::try_from(PORT_BASE + DOMAIN_GAIN * domain + offset).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_the_standard() {
        assert_eq!((multicast(0), user_multicast(0)), (7400, 7401));
        assert_eq!(unicast(0, 0), 7410);
        assert_eq!(unicast(1, 3), 7666);
        // 65 648 by the formula, which no port can be.
        assert_eq!(unicast(DOMAIN_MAX, INDEX_COUNT - 1), u16::MAX);
    }
}
