//! The participant and the QoS of its endpoint.

use whimbrel::domain::InProcess;
use whimbrel::qos::data_representation::DataRepresentationId;
use whimbrel::qos::resource_limits::Limit;
use whimbrel::{DomainParticipant, DomainParticipantBuilder, Duration, Error};

use super::options::Options;

/// Blocking time of a write, as the other peers have it.
pub(super) const MAX_BLOCKING: Duration = Duration::from_secs(10);

/// Joins the domain as the options say.
pub(super) fn participant(options: &Options) -> Result<DomainParticipant, Error> {
    let mut builder = builder(options);
    if let Some(file) = &options.capture {
        builder = builder.capture(file);
    }
    if options.beside {
        builder = builder.in_process(InProcess::Off);
    }
    builder.build()
}

/// What every participant of the process has in common.
pub(super) fn builder(options: &Options) -> DomainParticipantBuilder {
    let mut builder = DomainParticipant::builder(options.domain).name("interop");
    // `any` leaves everything as a program without settings has it.
    if options.interface != "any" {
        builder = builder
            .interfaces(options.interface.clone())
            .multicast(options.multicast);
    }
    if !options.peers.is_empty() {
        builder = builder.peers(options.peers.clone());
    }
    if let Some(lease_ms) = options.lease_ms {
        builder = builder
            .lease(Duration::from_millis(lease_ms.into()))
            .announce_period(Duration::from_millis(i64::from(lease_ms) / 3));
    }
    if let Some(drop_per_mille) = options.faults_per_mille {
        builder = builder.faults(drop_per_mille, drop_per_mille / 4, options.fault_seed);
    }
    builder
}

/// What both QoS structs have in common; they share names, not a trait.
macro_rules! endpoint_qos {
    ($name:ident, $qos:ty) => {
        pub(super) fn $name(options: &Options) -> $qos {
            let mut qos = <$qos>::default();
            qos = if options.reliable {
                qos.reliable()
            } else {
                qos.best_effort()
            };
            qos = match options.keep_last {
                Some(depth) => qos.keep_last(depth),
                None => qos.keep_all(),
            };
            if options.transient_local {
                qos = qos.transient_local();
            }
            if let Some(most) = options.max_samples {
                qos.resource_limits.max_samples = Limit::at_most(most);
            }
            if let Some(id) = representation(options) {
                qos = qos.data_representation(&[id]);
            }
            qos
        }
    };
}

endpoint_qos!(writer_qos, whimbrel::DataWriterQos);
endpoint_qos!(reader_qos, whimbrel::DataReaderQos);

fn representation(options: &Options) -> Option<DataRepresentationId> {
    match options.xcdr {
        Some(1) => Some(DataRepresentationId::XCDR1),
        Some(_) => Some(DataRepresentationId::XCDR2),
        None => None,
    }
}
