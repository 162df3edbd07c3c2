//! Plain charts of lines and points over linear or logarithmic axes as SVG, on a white ground of their own, so that they read the same on a dark page.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;

/// Told apart by most eyes.
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#7b3f8c"];

/// How the points of a series are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Joined by lines; where there are few points they are shown too.
    Line,
    Points,
}

/// How values become positions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Logarithmic,
}

/// Points with a name.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) mark: Mark,
    pub(super) points: Vec<(f64, f64)>,
}

/// Series over two axes.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x_label: String,
    pub(super) y_label: String,
    pub(super) scale: Scale,
    pub(super) series: Vec<Series>,
}

/// Values, or their logarithms, to positions.
struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
    /// Between two ticks.
    step: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Axis {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.map(|value| scaled(scale, value)) {
            from = from.min(value);
            to = to.max(value);
        }
        let step = match scale {
            Scale::Linear => round_step((to - from).max(1e-9) / 5.0),
            Scale::Logarithmic => 1.0,
        };
        let (from, to) = ((from / step).floor() * step, (to / step).ceil() * step);
        Axis { scale, from, to: to.max(from + step), step, start, end }
    }

    /// The position of a scaled value.
    fn position(&self, scaled: f64) -> f64 {
        self.start + (scaled - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    fn at(&self, value: f64) -> f64 {
        self.position(scaled(self.scale, value))
    }

    /// Positions with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let n = ((self.to - self.from) / self.step).round() as i32;
        let tick = |k| {
            let value = self.from + f64::from(k) * self.step;
            let label = match self.scale {
                Scale::Linear => decimal(value, self.step),
                Scale::Logarithmic => power_of_ten(value),
            };
            (self.position(value), label)
        };
        (0..=n).map(tick).collect()
    }
}

fn scaled(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Logarithmic => value.max(1e-3).log10(),
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below a step.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0].map(|n| n * power).into_iter().find(|round| *round >= step * 0.999).unwrap_or(10.0 * power)
}

/// A number with as many digits behind the point as a step has.
fn decimal(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".to_owned() } else { text }
}

/// A power of ten as people write it.
fn power_of_ten(exponent: f64) -> String {
    match exponent as i32 {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        n => {
            let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
            let raised = n
                .abs()
                .to_string()
                .chars()
                .filter_map(|c| digits.chars().nth(c.to_digit(10)? as usize))
                .collect::<String>();
            format!("10{}{raised}", if n < 0 { "⁻" } else { "" })
        }
    }
}

impl Chart {
    /// The text of the file.
    pub(super) fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|s| s.points.iter().copied());
        let x = Axis::new(self.scale, points().map(|p| p.0), (LEFT, WIDTH - RIGHT));
        let y = Axis::new(self.scale, points().map(|p| p.1), (HEIGHT - BOTTOM, TOP));
        let mut lines = vec![
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
                 font-size=\"13\">"
            ),
            format!("<title>{}</title>", self.title),
            format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"#ffffff\" stroke=\"#c8c8c8\"/>"),
            format!("<text x=\"{LEFT}\" y=\"26\" font-weight=\"bold\" fill=\"#222222\">{}</text>", self.title),
        ];
        for (at, label) in x.ticks() {
            lines.push(line((at, TOP), (at, HEIGHT - BOTTOM), "#e4e4e4", 1.0));
            lines.push(text(at, HEIGHT - BOTTOM + 18.0, "middle", "#222222", &label));
        }
        for (at, label) in y.ticks() {
            lines.push(line((LEFT, at), (WIDTH - RIGHT, at), "#e4e4e4", 1.0));
            lines.push(text(LEFT - 8.0, at + 4.0, "end", "#222222", &label));
        }
        let (middle, half) = ((LEFT + WIDTH - RIGHT) / 2.0, (TOP + HEIGHT - BOTTOM) / 2.0);
        lines.push(text(middle, HEIGHT - 16.0, "middle", "#222222", &self.x_label));
        lines.push(format!(
            "<text transform=\"translate(22 {half}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">{}</text>",
            self.y_label
        ));
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            lines.extend(curve(series, colour, &x, &y));
        }
        lines.extend(self.names(&y));
        lines.push("</svg>\n".to_owned());
        lines.join("\n")
    }

    /// The names of the series: beside their last points, but not over one another.
    fn names(&self, y: &Axis) -> Vec<String> {
        let end = |s: &Series| s.points.last().map_or(y.start, |(_, value)| y.at(*value));
        let mut all: Vec<(f64, &Series, &str)> =
            self.series.iter().zip(COLOURS.iter().cycle()).map(|(s, colour)| (end(s), s, *colour)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = f64::NEG_INFINITY;
        let mut names = Vec::new();
        for (end, series, colour) in all {
            let at = end.max(free);
            free = at + 16.0;
            names.push(text(WIDTH - RIGHT + 10.0, at + 4.0, "start", colour, &series.name));
        }
        names
    }
}

/// More points than these are not drawn on their lines.
const FEW: usize = 12;

/// A series as a line, as points, or as both.
fn curve(series: &Series, colour: &str, x: &Axis, y: &Axis) -> Vec<String> {
    let mut path = String::new();
    let mut drawn = Vec::new();
    for (px, py) in &series.points {
        let (px, py) = (x.at(*px), y.at(*py));
        // Writing to a string cannot fail.
        let _ = write!(path, "{px:.1},{py:.1} ");
        if series.mark == Mark::Points || series.points.len() <= FEW {
            drawn.push(format!("<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3.5\" fill=\"{colour}\"/>"));
        }
    }
    let line =
        format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>", path.trim_end());
    if series.mark == Mark::Line {
        drawn.insert(0, line);
    }
    drawn
}

fn line((x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str, width: f64) -> String {
    format!(
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
    )
}

fn text(x: f64, y: f64, anchor: &str, colour: &str, content: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{content}</text>")
}
