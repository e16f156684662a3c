//! Goals: a measured figure beside the bound it must keep.

use std::fmt;

/// Which side of the bound is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At most the bound.
    AtMost,
    /// Less than the bound.
    Below,
    /// At least the bound.
    AtLeast,
}

/// One goal that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// What was measured: words joined by dots.
    pub name: String,
    /// The figure.
    pub measured: f64,
    /// Where it was found, such as the worst size; may be empty.
    pub at: String,
    /// Which side of the bound is good.
    pub side: Side,
    /// The bound.
    pub bound: f64,
}

impl Goal {
    /// One that tests keep, of which so many `failed`: none may.
    pub fn proved(name: impl Into<String>, failed: u32) -> Self {
        Self {
            name: name.into(),
            measured: f64::from(failed),
            at: "failed tests".to_owned(),
            side: Side::AtMost,
            bound: 0.0,
        }
    }

    /// Whether the bound was kept. What is not a number was not.
    pub fn met(&self) -> bool {
        match self.side {
            Side::AtMost => self.measured <= self.bound,
            Side::Below => self.measured < self.bound,
            Side::AtLeast => self.measured >= self.bound,
        }
    }

    /// The worst of several figures against one bound; nothing where there are none.
    pub fn worst(
        name: impl Into<String>,
        figures: impl IntoIterator<Item = (f64, String)>,
        side: Side,
        bound: f64,
    ) -> Option<Self> {
        let worse = |a: f64, b: f64| match side {
            Side::AtMost | Side::Below => a.is_nan() || a > b,
            Side::AtLeast => a.is_nan() || a < b,
        };
        let (measured, at) = figures
            .into_iter()
            .reduce(|worst, it| if worse(it.0, worst.0) { it } else { worst })?;
        Some(Self {
            name: name.into(),
            measured,
            at,
            side,
            bound,
        })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.side {
            Side::AtMost => "<=",
            Side::Below => "<",
            Side::AtLeast => ">=",
        };
        let at = if self.at.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.at)
        };
        let verdict = if self.met() { "met" } else { "missed" };
        write!(
            f,
            "goal: {} measured {:.3}{at} wanted {sign} {} {verdict}",
            self.name, self.measured, self.bound
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(measured: f64, side: Side, bound: f64) -> Goal {
        Goal {
            name: "x".into(),
            measured,
            at: String::new(),
            side,
            bound,
        }
    }

    #[test]
    fn bounds_are_kept_on_their_side() {
        for (measured, side, bound, met) in [
            (1.1, Side::AtMost, 1.1, true),
            (1.11, Side::AtMost, 1.1, false),
            (1.0, Side::Below, 1.0, false),
            (0.99, Side::Below, 1.0, true),
            (0.85, Side::AtLeast, 0.85, true),
            (0.84, Side::AtLeast, 0.85, false),
            (f64::NAN, Side::AtMost, 1.0, false),
            (f64::NAN, Side::AtLeast, 1.0, false),
            (f64::INFINITY, Side::Below, 1.0, false),
        ] {
            assert_eq!(
                goal(measured, side, bound).met(),
                met,
                "{measured} {side:?}"
            );
        }
    }

    #[test]
    fn the_worst_figure_is_judged() {
        let figures = || [(1.0, "a".to_owned()), (3.0, "b".into()), (2.0, "c".into())];
        let of = |side| Goal::worst("x", figures(), side, 2.5).unwrap();
        assert_eq!(
            (of(Side::AtMost).at, of(Side::AtMost).met()),
            ("b".into(), false)
        );
        assert_eq!(
            (of(Side::AtLeast).at, of(Side::AtLeast).met()),
            ("a".into(), false)
        );
        assert_eq!(Goal::worst("x", [], Side::AtMost, 1.0), None);
        let broken = [(1.0, "a".to_owned()), (f64::NAN, "b".into())];
        assert!(!Goal::worst("x", broken, Side::AtMost, 2.0).unwrap().met());
    }

    #[test]
    fn a_line_says_everything() {
        let mut goal = goal(1.25, Side::AtMost, 1.1);
        assert_eq!(
            goal.to_string(),
            "goal: x measured 1.250 wanted <= 1.1 missed"
        );
        goal.at = "16 B".into();
        goal.bound = 1.5;
        assert_eq!(
            goal.to_string(),
            "goal: x measured 1.250 (16 B) wanted <= 1.5 met"
        );
    }
}
