use super::*;

fn check(builder: &Asked, pairs: &[(&str, &str)], name: &str, expected: (&str, SettingSource)) {
    let settings = Settings::resolve(builder, &Environment::of(pairs)).unwrap();
    let list = settings.list();
    let found = list.iter().find(|it| it.name == name).unwrap();
    assert_eq!((found.value.as_str(), found.source), expected, "{name}");
}

#[test]
fn the_program_comes_before_the_environment_and_that_before_the_default() {
    let variable = |name| SettingSource::Environment(name);
    let nothing = Asked::default();
    let default = SettingSource::Default;
    check(&nothing, &[], "domain", ("0", default));
    check(&nothing, &[], "interfaces", ("all", default));
    check(&nothing, &[], "peers", ("none", default));
    check(&nothing, &[], "ip", ("4", default));
    check(&nothing, &[], "in_process", ("direct", default));
    check(&nothing, &[], "lease", ("10s", default));
    check(&nothing, &[], "log", ("warn", default));
    let rate = "discovery_bytes_per_s_max";
    check(&nothing, &[], rate, ("12500000", default));
    let pairs = [
        ("WHIMBREL_DOMAIN", "7"),
        ("WHIMBREL_IP", "46"),
        ("WHIMBREL_PEERS", "10.0.0.7:99, ::1"),
        ("WHIMBREL_INTERFACES", "eth*, !lo"),
        ("WHIMBREL_IN_PROCESS", "queued"),
        ("WHIMBREL_LOG", "off"),
        ("WHIMBREL_MESSAGE_BYTES_MAX", "1400"),
        ("WHIMBREL_PACKET_BYTES_MAX", "9000"),
        ("WHIMBREL_SEGMENTATION_OFFLOAD", "off"),
        ("WHIMBREL_AUTOMATIC_BUNDLING", "off"),
        ("WHIMBREL_CONNECTED_SOCKETS", "off"),
        ("WHIMBREL_BATCHED_RECEIVE", "off"),
        ("WHIMBREL_BATCHED_SEND", "off"),
        ("WHIMBREL_RECEIVE_CREDIT", "off"),
        ("WHIMBREL_BULK_SOCKET", "off"),
        ("WHIMBREL_PROCESSOR_COUNTER", "off"),
        ("WHIMBREL_RECEIVE_BUFFER_BYTES", "system"),
        ("WHIMBREL_SEND_BUFFER_BYTES", "65536"),
        ("WHIMBREL_MULTICAST_DATA", "239.255.1.2"),
        ("WHIMBREL_STATISTICS", "on"),
        ("WHIMBREL_DISCOVERY_BYTES_PER_S_MAX", "20000"),
    ];
    let message = "message_bytes_max";
    check(&nothing, &[], message, ("65507", default));
    let of_message = variable("WHIMBREL_MESSAGE_BYTES_MAX");
    check(&nothing, &pairs, message, ("1400", of_message));
    let packet = "packet_bytes_max";
    check(&nothing, &[], packet, ("1500", default));
    let of_packet = variable("WHIMBREL_PACKET_BYTES_MAX");
    check(&nothing, &pairs, packet, ("9000", of_packet));
    let of_rate = variable("WHIMBREL_DISCOVERY_BYTES_PER_S_MAX");
    check(&nothing, &pairs, rate, ("20000", of_rate));
    let peers = ("10.0.0.7:99,::1", variable("WHIMBREL_PEERS"));
    check(&nothing, &pairs, "peers", peers);
    let domain = ("7", variable("WHIMBREL_DOMAIN"));
    check(&nothing, &pairs, "domain", domain);
    check(&nothing, &pairs, "ip", ("46", variable("WHIMBREL_IP")));
    let in_process = ("queued", variable("WHIMBREL_IN_PROCESS"));
    check(&nothing, &pairs, "in_process", in_process);
    check(&nothing, &pairs, "log", ("off", variable("WHIMBREL_LOG")));
    let offload = ("off", variable("WHIMBREL_SEGMENTATION_OFFLOAD"));
    check(&nothing, &pairs, "segmentation_offload", offload);
    check(&nothing, &[], "segmentation_offload", ("auto", default));
    let connected = ("off", variable("WHIMBREL_CONNECTED_SOCKETS"));
    check(&nothing, &pairs, "connected_sockets", connected);
    check(&nothing, &[], "connected_sockets", ("on", default));
    for (name, of) in [
        ("automatic_bundling", "WHIMBREL_AUTOMATIC_BUNDLING"),
        ("batched_receive", "WHIMBREL_BATCHED_RECEIVE"),
        ("batched_send", "WHIMBREL_BATCHED_SEND"),
        ("receive_credit", "WHIMBREL_RECEIVE_CREDIT"),
        ("bulk_socket", "WHIMBREL_BULK_SOCKET"),
        ("processor_counter", "WHIMBREL_PROCESSOR_COUNTER"),
    ] {
        check(&nothing, &pairs, name, ("off", variable(of)));
        check(&nothing, &[], name, ("on", default));
    }
    let receive = "receive_buffer_bytes";
    let of_receive = variable("WHIMBREL_RECEIVE_BUFFER_BYTES");
    check(&nothing, &pairs, receive, ("system", of_receive));
    check(&nothing, &[], receive, ("4194304", default));
    let of_send = variable("WHIMBREL_SEND_BUFFER_BYTES");
    check(&nothing, &pairs, "send_buffer_bytes", ("65536", of_send));
    check(&nothing, &[], "send_buffer_bytes", ("1048576", default));
    check(&nothing, &[], "multicast_data", ("off", default));
    let group = ("239.255.1.2", variable("WHIMBREL_MULTICAST_DATA"));
    check(&nothing, &pairs, "multicast_data", group);
    check(&nothing, &[], "statistics", ("off", default));
    let statistics = ("on", variable("WHIMBREL_STATISTICS"));
    check(&nothing, &pairs, "statistics", statistics);
    let interfaces = ("eth*,!lo", variable("WHIMBREL_INTERFACES"));
    check(&nothing, &pairs, "interfaces", interfaces);
    let all = Asked {
        domain: Some(3),
        interfaces: Some("lo".into()),
        peers: Some(vec!["10.0.0.8".into()]),
        ip: Some(IpVersions::V6),
        in_process: Some(InProcess::Off),
        discovery_bytes_per_s_max: Some(5000),
        receive_buffer_bytes: Some(Some(8192)),
        ..Asked::default()
    };
    let builder = SettingSource::Builder;
    check(&all, &pairs, rate, ("5000", builder));
    check(&all, &pairs, receive, ("8192", builder));
    check(&all, &pairs, "domain", ("3", builder));
    check(&all, &pairs, "peers", ("10.0.0.8", builder));
    check(&all, &pairs, "ip", ("6", builder));
    check(&all, &pairs, "in_process", ("off", builder));
    check(&all, &pairs, "interfaces", ("lo", builder));
}

#[test]
fn limits_are_listed_one_by_one() {
    let limits = Limits {
        remote_participants_max: 7,
        ..Limits::DEFAULT
    };
    let builder = Asked {
        limits: Some(limits),
        ..Asked::default()
    };
    let said = ("7", SettingSource::Builder);
    check(&builder, &[], "remote_participants_max", said);
    let kept = Limits::DEFAULT.locators_max.to_string();
    let unsaid = (kept.as_str(), SettingSource::Default);
    check(&builder, &[], "locators_max", unsaid);
}

#[test]
fn a_bad_variable_is_refused_even_where_the_program_overrules_it() {
    let builder = Asked {
        ip: Some(IpVersions::V4),
        ..Asked::default()
    };
    let environment = Environment::of(&[("WHIMBREL_IP", "5")]);
    let error = Settings::resolve(&builder, &environment).unwrap_err();
    assert!(error.to_string().contains("WHIMBREL_IP"), "{error}");
    let pairs = [("WHIMBREL_DISCOVERY_BYTES_PER_S_MAX", "999")];
    let error = Settings::resolve(&builder, &Environment::of(&pairs)).unwrap_err();
    assert!(error.to_string().contains("at least 1000"), "{error}");
    let pairs = [("WHIMBREL_MESSAGE_BYTES_MAX", "507")];
    let error = Settings::resolve(&builder, &Environment::of(&pairs)).unwrap_err();
    assert!(error.to_string().contains("508 to 65507"), "{error}");
    let pairs = [("WHIMBREL_PACKET_BYTES_MAX", "575")];
    let error = Settings::resolve(&builder, &Environment::of(&pairs)).unwrap_err();
    assert!(error.to_string().contains("576 to 65535"), "{error}");
    let pairs = [("WHIMBREL_SEND_BUFFER_BYTES", "4095")];
    let error = Settings::resolve(&builder, &Environment::of(&pairs)).unwrap_err();
    assert!(error.to_string().contains("or system"), "{error}");
    let builder = Asked {
        send_buffer_bytes: Some(Some(4095)),
        ..Asked::default()
    };
    let error = Settings::resolve(&builder, &Environment::default()).unwrap_err();
    assert!(
        error.to_string().contains("send_buffer_bytes=4095"),
        "{error}"
    );
}

#[test]
fn data_goes_to_no_group_that_is_none() {
    let builder = Asked {
        data_group: Some(DataGroup::At([10, 0, 0, 1].into())),
        ..Asked::default()
    };
    let error = Settings::resolve(&builder, &Environment::default()).unwrap_err();
    assert!(
        error.to_string().contains("10.0.0.1 is no multicast"),
        "{error}"
    );
    let environment = Environment::of(&[("WHIMBREL_MULTICAST_DATA", "10.0.0.1")]);
    let error = Settings::resolve(&Asked::default(), &environment).unwrap_err();
    let said = "neither on nor off nor a multicast address";
    assert!(error.to_string().contains(said), "{error}");
}
