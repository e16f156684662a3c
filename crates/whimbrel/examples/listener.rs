//! Is called back when data arrives and when writers come and go.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use whimbrel::status::SubscriptionMatched;
use whimbrel::{
    DataReader, DataReaderListener, DataReaderQos, DataWriterQos, DdsType, DomainParticipant,
    Error, Sample, StatusKind,
};

#[derive(DdsType, Debug)]
struct Measurement {
    #[dds(key)]
    sensor: u32,
    value: f64,
}

/// Counts what arrives and tells when its writer is gone.
struct Recorder {
    received: usize,
    done: Sender<usize>,
}

// Every method has a default that does nothing. All listeners run on one thread of Whimbrel's,
// which holds no lock: every call is allowed here, but what takes long holds up other listeners.
impl DataReaderListener<Measurement> for Recorder {
    fn on_data_available(&mut self, reader: &DataReader<Measurement>) {
        for measurement in reader.samples().filter_map(Sample::into_data) {
            println!("sensor {}: {}", measurement.sensor, measurement.value);
            self.received += 1;
        }
    }

    fn on_subscription_matched(
        &mut self,
        _reader: &DataReader<Measurement>,
        status: SubscriptionMatched,
    ) {
        println!("writers: {}", status.current_count);
        if status.total_count > 0 && status.current_count == 0 {
            // The program may have given up waiting.
            let _ = self.done.send(self.received);
        }
    }
}

fn main() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.create_topic::<Measurement>("listener/measurements")?;
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.create_datareader(&topic, qos)?;
    let (done, finished) = channel();
    let recorder = Recorder { received: 0, done };
    // Only the statuses named here are told; what has changed already is told at once.
    reader.set_listener(
        Some(Box::new(recorder)),
        StatusKind::DataAvailable | StatusKind::SubscriptionMatched,
    );

    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = participant.create_datawriter(&topic, qos)?;
    writer.wait_for_matched(1, Duration::from_secs(10))?;
    for sensor in 1..=3 {
        let value = f64::from(sensor) * 1.5;
        writer.write(&Measurement { sensor, value })?;
    }
    writer.wait_for_acknowledgments(Duration::from_secs(10))?;
    drop(writer);

    let patience = Duration::from_secs(10);
    let received = finished
        .recv_timeout(patience)
        .map_err(|_| Error::Timeout)?;
    println!("received {received}");
    Ok(())
}
