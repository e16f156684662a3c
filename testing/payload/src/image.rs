//! Octets like those of a camera's picture: smooth areas, edges and the noise of a sensor.

use crate::random::Random;

/// Pixels of a line, three octets each.
const WIDTH: usize = 640;

/// A picture in rows of 640 pixels, red, green and blue, as many rows as fill the length.
pub(crate) fn image(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let shapes: Vec<Shape> = (0..24).map(|_| Shape::random(&mut random)).collect();
    let mut octets = Vec::with_capacity(length + 3 * WIDTH);
    for y in 0.. {
        if octets.len() >= length {
            break;
        }
        row(y % 480, &shapes, &mut random, &mut octets);
    }
    octets.truncate(length);
    octets
}

fn row(y: usize, shapes: &[Shape], random: &mut Random, octets: &mut Vec<u8>) {
    for x in 0..WIDTH {
        let shape = shapes.iter().rev().find(|it| it.covers(x, y));
        let ground = [60 + y / 6, 90 + y / 8, 150 - y / 8].map(|it| it as u8);
        let color = shape.map_or(ground, |it| it.color);
        let light = (x / 40) as u8;
        for channel in color {
            // The sum of two evenly spread numbers: small errors are likelier than large ones.
            let noise = (random.below(4) + random.below(4)) as u8;
            octets.push(channel.saturating_add(light).saturating_add(noise));
        }
    }
}

struct Shape {
    x: usize,
    y: usize,
    radius: usize,
    color: [u8; 3],
}

impl Shape {
    fn random(random: &mut Random) -> Self {
        Self {
            x: random.below(WIDTH as u64) as usize,
            y: random.below(480) as usize,
            radius: 10 + random.below(90) as usize,
            color: [0; 3].map(|_| random.below(220) as u8),
        }
    }

    fn covers(&self, x: usize, y: usize) -> bool {
        let (dx, dy) = (self.x.abs_diff(x), self.y.abs_diff(y));
        dx * dx + dy * dy < self.radius * self.radius
    }
}
