//! `whimbrel shapes`: the well-known demonstration, which every vendor's understands.

use std::time::{Duration, Instant};

use serde::Serialize;
use whimbrel::base::guid::Guid;
use whimbrel::qos::DataRepresentationId;
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, InstanceState,
    PublisherQos, Sample, SubscriberQos,
};

use crate::bus;
use crate::failure::Failure;
use crate::known::ShapeType;
use crate::options::{
    BusOptions, End, Shape, ShapesOptions, ShapesPublisher, ShapesQos, ShapesRole, ShapesSubscriber,
};
use crate::output::{Output, Style, clean, count_of};
use crate::stop;

/// Width and height of the area in which shapes move, as in other vendors' demonstrations.
const AREA: (i32, i32) = (240, 270);

/// How far a shape moves per sample.
const STEP: (i32, i32) = (5, 3);

/// How long the last samples may take to be acknowledged.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often several readers are looked at in turn.
const TURN: Duration = Duration::from_millis(10);

/// A sample, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row<'a> {
    topic: &'a str,
    color: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shapesize: Option<i32>,
    instance_state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    writer: Option<String>,
}

pub(crate) fn run(
    options: &BusOptions,
    args: &ShapesOptions,
    output: &mut Output,
) -> Result<(), Failure> {
    let participant = bus::join(options, "shapes")?;
    match &args.role {
        ShapesRole::Pub(args) => publish(&participant, options, args, output),
        ShapesRole::Sub(args) => subscribe(&participant, args, output),
    }
}

impl Shape {
    /// The name of its topic.
    const fn topic(self) -> &'static str {
        match self {
            Self::Square => "Square",
            Self::Circle => "Circle",
            Self::Triangle => "Triangle",
        }
    }

    const ALL: [Self; 3] = [Self::Square, Self::Circle, Self::Triangle];
}

fn publish(
    participant: &DomainParticipant,
    options: &BusOptions,
    args: &ShapesPublisher,
    output: &mut Output,
) -> Result<(), Failure> {
    let topic = participant.create_topic::<ShapeType>(args.shape.topic())?;
    let names = args.qos.partition.iter();
    let qos = names.fold(PublisherQos::default(), |qos, name| qos.partition(name));
    let publisher = participant.create_publisher(qos)?;
    let writer = publisher.create_datawriter(&topic, writer_qos(&args.qos))?;
    if args.readers > 0 {
        let patience = options.wait.unwrap_or(Duration::from_secs(30));
        let matched = |slice| writer.wait_for_matched(args.readers, slice).is_ok();
        if !stop::within(patience, matched)? {
            let wanted = count_of(args.readers, "reader");
            return Err(Failure::Negative(format!(
                "waited {patience:?} for {wanted} of {}; `whimbrel why {}` tells who does not \
                 match",
                topic.name(),
                topic.name()
            )));
        }
    }
    let mut moving = Moving::new(args);
    let period = Duration::from_secs(1) / args.rate;
    let mut next = Instant::now();
    let mut written = 0;
    loop {
        let shape = moving.step();
        writer.write(&shape)?;
        written += 1;
        if !args.quiet {
            print(topic.name(), &shape, output)?;
        }
        if args.count.is_some_and(|count| written >= count) {
            return end(&writer, args.end, &shape);
        }
        next += period;
        stop::sleep_until(next)?;
    }
}

fn end(writer: &DataWriter<ShapeType>, end: End, shape: &ShapeType) -> Result<(), Failure> {
    match end {
        End::Leave => {}
        End::Dispose => writer.dispose(shape)?,
        End::Unregister => writer.unregister_instance(shape)?,
    }
    // A reader that does not acknowledge must not keep us.
    let acknowledged = |slice| writer.wait_for_acknowledgments(slice).is_ok();
    stop::within(FAREWELL, acknowledged).map(drop)
}

fn writer_qos(args: &ShapesQos) -> DataWriterQos {
    let mut qos = if args.best_effort {
        DataWriterQos::default().best_effort()
    } else {
        DataWriterQos::default().reliable()
    };
    qos = qos
        .autodispose_unregistered_instances(false)
        .data_representation(&[representation(args.xcdr.unwrap_or(1))]);
    if args.transient_local {
        qos = qos.transient_local();
    }
    if args.keep_all {
        qos.keep_all()
    } else {
        qos.keep_last(args.depth)
    }
}

fn reader_qos(args: &ShapesQos) -> DataReaderQos {
    let mut qos = if args.reliable {
        DataReaderQos::default().reliable()
    } else {
        DataReaderQos::default().best_effort()
    };
    let ids = match args.xcdr {
        Some(version) => vec![representation(version)],
        None => vec![representation(1), representation(2)],
    };
    qos = qos.data_representation(&ids);
    if args.transient_local {
        qos = qos.transient_local();
    }
    if args.keep_all {
        qos.keep_all()
    } else {
        qos.keep_last(args.depth)
    }
}

const fn representation(version: u8) -> DataRepresentationId {
    match version {
        2 => DataRepresentationId::XCDR2,
        _ => DataRepresentationId::XCDR1,
    }
}

/// A shape that bounces off the edges of its area.
struct Moving {
    shape: ShapeType,
    speed: (i32, i32),
}

impl Moving {
    fn new(args: &ShapesPublisher) -> Self {
        let shape = ShapeType {
            color: args.color.clone(),
            x: AREA.0 / 2,
            y: AREA.1 / 2,
            shapesize: args.size,
        };
        Self { shape, speed: STEP }
    }

    fn step(&mut self) -> ShapeType {
        let margin = self.shape.shapesize / 2;
        let bounce = |at: &mut i32, speed: &mut i32, end: i32| {
            let next = *at + *speed;
            if next < margin || next > end - margin {
                *speed = -*speed;
            }
            *at = (*at + *speed).clamp(margin, (end - margin).max(margin));
        };
        bounce(&mut self.shape.x, &mut self.speed.0, AREA.0);
        bounce(&mut self.shape.y, &mut self.speed.1, AREA.1);
        self.shape.clone()
    }
}

fn subscribe(
    participant: &DomainParticipant,
    args: &ShapesSubscriber,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut shapes = args.shape.clone();
    if shapes.is_empty() {
        shapes = Shape::ALL.to_vec();
    }
    shapes.dedup();
    let names = args.qos.partition.iter();
    let qos = names.fold(SubscriberQos::default(), |qos, name| qos.partition(name));
    let subscriber = participant.create_subscriber(qos)?;
    let mut readers = vec![];
    for shape in shapes {
        let topic = participant.create_topic::<ShapeType>(shape.topic())?;
        readers.push(subscriber.create_datareader(&topic, reader_qos(&args.qos))?);
    }
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let mut seen = 0;
    while deadline.is_none_or(|deadline| Instant::now() < deadline) {
        stop::check()?;
        for sample in next_samples(&readers, deadline)? {
            let (topic, sample) = sample;
            if !wanted(&sample, args.color.as_deref()) {
                continue;
            }
            print_sample(&topic, &sample, output)?;
            seen += u64::from(sample.data().is_some());
            if args.count.is_some_and(|count| seen >= count) {
                return Ok(());
            }
        }
    }
    if seen < args.count.unwrap_or(1) {
        let seen = count_of(usize::try_from(seen).unwrap_or(usize::MAX), "sample");
        return Err(Failure::Negative(format!(
            "{seen} came within the time allowed"
        )));
    }
    Ok(())
}

type Named = (String, Sample<ShapeType>);

/// What the readers have; waits for something where they have nothing.
fn next_samples(
    readers: &[DataReader<ShapeType>],
    deadline: Option<Instant>,
) -> Result<Vec<Named>, Failure> {
    let mut samples = vec![];
    for reader in readers {
        let taken = reader.take(usize::MAX)?;
        samples.extend(
            taken
                .into_iter()
                .map(|it| (reader.topic_name().to_owned(), it)),
        );
    }
    if samples.is_empty()
        && let Some(first) = readers.first()
    {
        let left = stop::slice(deadline)?;
        let turn = if readers.len() == 1 {
            left
        } else {
            left.min(TURN)
        };
        // Whether something came shows at the next look.
        let _ = first.wait_for_data(turn);
    }
    Ok(samples)
}

fn wanted(sample: &Sample<ShapeType>, color: Option<&str>) -> bool {
    match (color, sample.key()) {
        (None, _) => true,
        (Some(color), Some(key)) => key.color == color,
        (Some(_), None) => false,
    }
}

fn print(topic: &str, shape: &ShapeType, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        return output.object(&row(topic, shape, InstanceState::Alive, None));
    }
    let text = line(topic, shape);
    output.line(&text)
}

fn row<'a>(
    topic: &'a str,
    shape: &'a ShapeType,
    state: InstanceState,
    writer: Option<Guid>,
) -> Row<'a> {
    Row {
        topic,
        color: &shape.color,
        x: Some(shape.x),
        y: Some(shape.y),
        shapesize: Some(shape.shapesize),
        instance_state: state.to_string(),
        writer: writer.map(|it| it.to_string()),
    }
}

fn line(topic: &str, shape: &ShapeType) -> String {
    format!(
        "{topic:<10} {:<10} {:03} {:03} [{}]",
        clean(&shape.color),
        shape.x,
        shape.y,
        shape.shapesize
    )
}

fn print_sample(
    topic: &str,
    sample: &Sample<ShapeType>,
    output: &mut Output,
) -> Result<(), Failure> {
    let info = sample.info();
    let writer = Guid::from_bytes(info.publication_handle.0);
    if let Some(shape) = sample.data() {
        if output.json {
            return output.object(&row(topic, shape, info.instance_state, Some(writer)));
        }
        let text = line(topic, shape);
        return output.line(&text);
    }
    let color = sample.key().map_or("", |key| &key.color);
    if output.json {
        return output.object(&Row {
            topic,
            color,
            x: None,
            y: None,
            shapesize: None,
            instance_state: info.instance_state.to_string(),
            writer: Some(writer.to_string()),
        });
    }
    let state = output.paint(Style::Warning, &info.instance_state.to_string());
    output.line(&format!("{topic:<10} {:<10} {state}", clean(color)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn shapes_stay_in_their_area_and_move() {
        for size in ["1", "30", "200"] {
            let options = ["whimbrel", "shapes", "pub", "--size", size];
            let options = crate::options::Options::parse_from(options);
            let crate::options::Command::Shapes(ShapesOptions {
                role: ShapesRole::Pub(args),
            }) = options.command
            else {
                panic!("not a publisher");
            };
            let mut moving = Moving::new(&args);
            let mut xs = std::collections::BTreeSet::new();
            for _ in 0..1000 {
                let shape = moving.step();
                let margin = args.size / 2;
                assert!((margin..=AREA.0 - margin).contains(&shape.x), "{shape:?}");
                assert!((margin..=AREA.1 - margin).contains(&shape.y), "{shape:?}");
                xs.insert(shape.x);
            }
            assert!(xs.len() > 5);
        }
    }
}
