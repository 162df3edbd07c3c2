//! Plain line charts over logarithmic axes as SVG, on a white ground of their own, so that they read the same on a dark page.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;

/// Told apart by most eyes.
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#7b3f8c"];

/// Points with a name.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// Lines over two axes.
pub(super) struct Chart {
    pub(super) title: &'static str,
    pub(super) x_label: &'static str,
    pub(super) y_label: &'static str,
    pub(super) series: Vec<Series>,
}

/// Values to positions, by their logarithms.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Axis {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            from = from.min(value);
            to = to.max(value);
        }
        let (from, to) = (from.max(1e-3).log10().floor(), to.max(1e-3).log10().ceil());
        Axis { from, to: to.max(from + 1.0), start, end }
    }

    /// The position of a power of ten, by its exponent.
    fn scaled(&self, exponent: f64) -> f64 {
        self.start + (exponent - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    fn at(&self, value: f64) -> f64 {
        self.scaled(value.max(1e-3).log10())
    }

    /// Positions with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        let mut value = self.from;
        while value <= self.to {
            ticks.push((self.scaled(value), power_of_ten(value)));
            value += 1.0;
        }
        ticks
    }
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
        let x = Axis::new(points().map(|p| p.0), (LEFT, WIDTH - RIGHT));
        let y = Axis::new(points().map(|p| p.1), (HEIGHT - BOTTOM, TOP));
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
        lines.push(text(middle, HEIGHT - 16.0, "middle", "#222222", self.x_label));
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
            names.push(text(WIDTH - RIGHT + 10.0, at + 4.0, "start", colour, series.name));
        }
        names
    }
}

/// A series as a line with points.
fn curve(series: &Series, colour: &str, x: &Axis, y: &Axis) -> Vec<String> {
    let mut path = String::new();
    let mut drawn = Vec::new();
    for (px, py) in &series.points {
        let (px, py) = (x.at(*px), y.at(*py));
        // Writing to a string cannot fail.
        let _ = write!(path, "{px:.1},{py:.1} ");
        drawn.push(format!("<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3.5\" fill=\"{colour}\"/>"));
    }
    drawn.insert(
        0,
        format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>", path.trim_end()),
    );
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
