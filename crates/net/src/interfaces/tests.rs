use super::*;

fn interface(name: &str, index: u32, addresses: &[(&str, u8)], is_up: bool) -> Interface {
    Interface {
        name: name.to_owned(),
        index,
        addresses: addresses
            .iter()
            .map(|(ip, prefix_bits)| InterfaceAddress {
                ip: ip.parse().unwrap(),
                prefix_bits: *prefix_bits,
            })
            .collect(),
        is_loopback: name == "lo",
        is_up,
        is_multicast: name != "lo",
        mtu_bytes: Some(1500),
    }
}

fn host() -> Vec<Interface> {
    vec![
        interface("lo", 1, &[("127.0.0.1", 8), ("::1", 128)], true),
        interface(
            "eth0",
            2,
            &[("10.1.2.3", 16), ("192.168.1.7", 24), ("fe80::1", 64)],
            true,
        ),
        interface("eth1", 3, &[("10.2.0.1", 16)], false),
        interface("docker0", 4, &[("172.17.0.1", 16)], true),
        interface("wlan0", 5, &[("2001:db8::5", 64)], true),
    ]
}

/// The chosen addresses in words, or the error.
fn chosen(filter: &str) -> String {
    let filter: InterfaceFilter = match filter.parse() {
        Ok(filter) => filter,
        Err(error) => return FilterError::to_string(&error),
    };
    match filter.select(&host()) {
        Err(error) => error.to_string(),
        Ok(selection) => {
            let mut words: Vec<_> = selection
                .interfaces
                .iter()
                .flat_map(|i| i.addresses.iter().map(|a| format!("{}={}", i.name, a.ip)))
                .collect();
            words.extend(selection.unmatched.iter().map(|term| format!("not {term}")));
            words.join(" ")
        }
    }
}

#[track_caller]
fn check(filter: &str, wanted: &str) {
    assert_eq!(chosen(filter), wanted, "filter `{filter}`");
}

#[test]
fn filters_choose_addresses() {
    let lo = "lo=127.0.0.1 lo=::1";
    let eth = "eth0=10.1.2.3 eth0=192.168.1.7 eth0=fe80::1";
    check("lo", lo);
    check(" lo ,, ", lo);
    check(
        "",
        &format!("{lo} {eth} docker0=172.17.0.1 wlan0=2001:db8::5"),
    );
    check("!docker0", &format!("{lo} {eth} wlan0=2001:db8::5"));
    check("eth*,!docker0", eth);
    check(
        "*0,!docker0,!fe80::/10",
        "eth0=10.1.2.3 eth0=192.168.1.7 wlan0=2001:db8::5",
    );
    check("?o", lo);
    check("w*n?", "wlan0=2001:db8::5");
    check("10.0.0.0/8", "eth0=10.1.2.3");
    check("192.168.1.7", "eth0=192.168.1.7");
    check("2001:db8::/32,lo", &format!("{lo} wlan0=2001:db8::5"));
    check(
        "0.0.0.0/0,!lo",
        "eth0=10.1.2.3 eth0=192.168.1.7 docker0=172.17.0.1",
    );
    check(
        "lo,eth7,10.2.0.0/16",
        &format!("{lo} not eth7 not 10.2.0.0/16"),
    );
}

#[test]
fn errors_name_the_cause_and_what_there_is() {
    check(
        "10.0.0.0/33",
        "interface filter: `10.0.0.0/33` has more network bits than the address has",
    );
    check(
        "ten/8",
        "interface filter: `ten/8` is not an address before `/`",
    );
    check(
        "10.0.0.0/x",
        "interface filter: `10.0.0.0/x` has no number after `/`",
    );
    check(
        "lo,!",
        "interface filter: `` excludes nothing: a name or network must follow `!`",
    );
    check(
        "eth0 eth1",
        "interface filter: `eth0 eth1` is neither an interface name nor a network",
    );
    let existing = "lo (127.0.0.1/8, ::1/128), \
        eth0 (10.1.2.3/16, 192.168.1.7/24, fe80::1/64), eth1 (down, 10.2.0.1/16), \
        docker0 (172.17.0.1/16), wlan0 (2001:db8::5/64)";
    let eth1 = "no usable network interface matches `eth1`, `ppp*`; there are: ";
    check("eth1,ppp*", &format!("{eth1}{existing}"));
    let none = "no usable network interface is left; there are: ";
    check("lo,!lo", &format!("{none}{existing}"));
}

#[test]
fn filters_print_as_they_are_read() {
    for text in [
        "lo",
        "eth*,10.0.0.0/8,!docker0,!fe80::/10",
        "192.168.1.7",
        "",
    ] {
        assert_eq!(text.parse::<InterfaceFilter>().unwrap().to_string(), text);
    }
}

#[test]
fn loopback_only_is_recognised() {
    let only = |text: &str| {
        text.parse::<InterfaceFilter>()
            .unwrap()
            .is_loopback_only(&host())
    };
    assert!(only("lo"));
    assert!(only("127.0.0.0/8"));
    assert!(only("lo,::1"));
    assert!(!only("lo,eth0"));
    // What is not there yet may come.
    assert!(!only("lo,eth7"));
    assert!(!only("l*"));
    assert!(!only(""));
    assert!(!only("126.0.0.0/7"));
    assert!(!only("nowhere"));
}

#[test]
fn this_host_has_loopback() {
    let all = list().unwrap();
    let lo = all.iter().find(|interface| interface.is_loopback).unwrap();
    assert!(lo.is_up);
    assert_eq!(lo.first_v4(), Some(Ipv4Addr::LOCALHOST));
    assert_eq!(lo.addresses[0].prefix_bits, 8);
    assert_ne!(lo.index, 0);
    assert!(lo.mtu_bytes.is_none_or(|mtu| mtu >= 16_384));
    let selection = "lo*"
        .parse::<InterfaceFilter>()
        .unwrap()
        .select(&all)
        .unwrap();
    assert_eq!(selection.interfaces, std::slice::from_ref(lo));
}

#[test]
#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
fn a_watch_is_silent_until_something_changes() {
    let watch = InterfaceWatch::open().unwrap();
    let poller = crate::poll::Poller::new().unwrap();
    let token = crate::poll::Token(7);
    poller
        .add(
            &watch,
            token,
            crate::poll::Interest::Read,
            crate::poll::Trigger::Level,
        )
        .unwrap();
    // Others may change this host's interfaces meanwhile; then there is something to take.
    let mut events = crate::poll::Events::with_capacity(1);
    poller
        .wait(Some(std::time::Duration::ZERO), &mut events)
        .unwrap();
    assert_eq!(events.iter().next().is_some(), watch.drain());
}
