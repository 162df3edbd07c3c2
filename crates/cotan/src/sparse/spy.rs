//! A picture of a pattern: a mark for each entry.

use super::pattern::SparsePattern;
use std::fmt::Write;

/// The longer side of the picture of the matrix, in pixels.
const SIDE: f64 = 480.0;

/// A matrix with a longer side than this is drawn in cells that stand for several rows and columns.
const MAX_CELLS: usize = 400;

/// How many cells the longer side then has.
const CELLS: usize = 200;

/// How many shades a cell may have.
const SHADES: usize = 8;

/// Cells that are wider than this many pixels have lines between them.
const GRID_FROM: f64 = 8.0;

/// Left of the matrix and above it, there is room for labels.
const MARGIN: f64 = 64.0;

/// An SVG picture of a pattern. `title` says of what; numbers of rows, columns and entries, and the `note`, follow it. A
/// cell that stands for several entries is the darker the more of them there are.
///
/// The colours follow the scheme of the reader, light or dark.
pub fn spy_plot(pattern: &SparsePattern, title: &str, note: &str) -> String {
    let (rows, columns) = pattern.shape();
    let longer = rows.max(columns).max(1);
    let per_cell = if longer > MAX_CELLS { longer.div_ceil(CELLS) } else { 1 };
    let scale = SIDE / longer as f64;
    let (width, height) = (columns as f64 * scale, rows as f64 * scale);
    let (full_width, full_height) = (width.max(320.0) + 2.0 * MARGIN, height + 2.0 * MARGIN);
    let entries = pattern.entries();
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{text}");
    };
    line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full_width:.0} {full_height:.0}\" \
         width=\"{full_width:.0}\" height=\"{full_height:.0}\" role=\"img\">"
    ));
    let summary = format!("{rows} x {columns}, {entries} entries");
    line(format_args!("<title>{}: {summary}</title>", escaped(title)));
    line(format_args!(
        "<style>.paper {{ fill: #ffffff }} .ink {{ fill: #1f2933 }} .mark {{ fill: #1f5fa8 }} .frame {{ fill: none; \
         stroke: #7b8794 }} .grid {{ fill: none; stroke: #ffffff }} text {{ font: 12px sans-serif }} @media (prefers-color-scheme: dark) {{ .paper {{ fill: \
         #12161c }} .ink {{ fill: #e4e7eb }} .mark {{ fill: #7cb7ff }} .grid {{ stroke: #12161c }} }}</style>"
    ));
    line(format_args!("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>"));
    line(format_args!("<text class=\"ink\" x=\"{MARGIN}\" y=\"20\" font-weight=\"bold\">{}</text>", escaped(title)));
    let subtitle = if note.is_empty() { summary } else { format!("{summary}, {}", escaped(note)) };
    line(format_args!("<text class=\"ink\" x=\"{MARGIN}\" y=\"37\">{subtitle}</text>"));
    line(format_args!("<g transform=\"translate({MARGIN} {MARGIN})\">"));
    let cell = scale * per_cell as f64;
    for Run { row, start, end, shade } in runs(pattern, per_cell) {
        let (x, y) = (start as f64 * cell, row as f64 * cell);
        // The last cells may reach beyond the matrix.
        let (w, h) = ((end as f64 * cell).min(width) - x, (y + cell).min(height) - y);
        let opacity = shade as f64 / SHADES as f64;
        line(format_args!(
            "<rect class=\"mark\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" opacity=\"{opacity:.3}\"/>"
        ));
    }
    if cell > GRID_FROM {
        line(format_args!("<path class=\"grid\" d=\"{}\"/>", grid(rows, columns, cell)));
    }
    line(format_args!("<rect class=\"frame\" width=\"{width:.2}\" height=\"{height:.2}\"/>"));
    let (below, right) = (height + 16.0, width);
    line(format_args!("<text class=\"ink\" x=\"0\" y=\"{below:.2}\">0</text>"));
    line(format_args!("<text class=\"ink\" x=\"{right:.2}\" y=\"{below:.2}\" text-anchor=\"end\">{columns}</text>"));
    line(format_args!(
        "<text class=\"ink\" x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">column</text>",
        width / 2.0,
        height + 32.0
    ));
    line(format_args!("<text class=\"ink\" x=\"-6\" y=\"10\" text-anchor=\"end\">0</text>"));
    line(format_args!("<text class=\"ink\" x=\"-6\" y=\"{height:.2}\" text-anchor=\"end\">{rows}</text>"));
    line(format_args!(
        "<text class=\"ink\" transform=\"translate(-40 {:.2}) rotate(-90)\" text-anchor=\"middle\">row</text>",
        height / 2.0
    ));
    line(format_args!("</g>"));
    line(format_args!("</svg>"));
    out
}

/// The lines between the cells of a matrix, as a path.
fn grid(rows: usize, columns: usize, cell: f64) -> String {
    let (width, height) = (columns as f64 * cell, rows as f64 * cell);
    let across = (1..rows).map(|row| format!("M0 {:.2}H{width:.2}", row as f64 * cell));
    let down = (1..columns).map(|column| format!("M{:.2} 0V{height:.2}", column as f64 * cell));
    across.chain(down).collect()
}

/// Cells of one row that lie side by side and have one shade.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    row: usize,
    start: usize,
    end: usize,
    /// From 1 to [`SHADES`].
    shade: usize,
}

/// All cells with entries, each of which stands for so many rows and columns.
fn runs(pattern: &SparsePattern, per_cell: usize) -> Vec<Run> {
    let (rows, columns) = pattern.shape();
    let n_across = columns.div_ceil(per_cell);
    let counts: Vec<Vec<usize>> = (0..rows.div_ceil(per_cell))
        .map(|cell| {
            let mut counts = vec![0; n_across];
            for row in cell * per_cell..rows.min((cell + 1) * per_cell) {
                pattern.row(row).iter().for_each(|column| counts[*column as usize / per_cell] += 1);
            }
            counts
        })
        .collect();
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let mut runs: Vec<Run> = Vec::new();
    for (row, counts) in counts.iter().enumerate() {
        for (column, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Few entries of many are faint, and none are nothing.
            let shade = (count * SHADES).div_ceil(most).max(2);
            match runs.last_mut() {
                Some(run) if (run.row, run.end, run.shade) == (row, column, shade) => run.end += 1,
                Some(_) | None => runs.push(Run { row, start: column, end: column + 1, shade }),
            }
        }
    }
    runs
}

/// Text as XML holds it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn neighbours_of_one_row_are_one_mark() {
        let pattern = SparsePattern::from_rows(4, &[vec![0, 1, 3], vec![2]]).expect("all columns are there");
        let full = |row, start, end| Run { row, start, end, shade: SHADES };
        assert_eq!(runs(&pattern, 1), [full(0, 0, 2), full(0, 3, 4), full(1, 2, 3)]);
        let shaded = |start, end, shade| Run { row: 0, start, end, shade };
        assert_eq!(runs(&pattern, 2), [shaded(0, 2, SHADES)]);
        assert_eq!(runs(&pattern, 3), [shaded(0, 1, SHADES), shaded(1, 2, 3)]);
    }

    /// The names of elements that are opened and not closed in the same tag, and of those that are closed.
    fn is_balanced(svg: &str) -> bool {
        let mut open: Vec<&str> = Vec::new();
        for tag in svg.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
            match tag.strip_prefix('/') {
                Some(name) if open.pop() != Some(name) => return false,
                Some(_) => {}
                None if tag.ends_with('/') => {}
                None => open.push(tag.split_whitespace().next().unwrap_or_default()),
            }
        }
        open.is_empty()
    }

    #[test]
    fn a_small_pattern_is_drawn_entry_by_entry() {
        let pattern = SparsePattern::from_rows(3, &[vec![0, 1], vec![2]]).expect("all columns are there");
        let svg = spy_plot(&pattern, "Jacobian of `f<T>` by `x`", "2 colours");
        assert!(is_balanced(&svg), "{svg}");
        expect![[r#"
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 608 448" width="608" height="448" role="img">
            <title>Jacobian of `f&lt;T&gt;` by `x`: 2 x 3, 3 entries</title>
            <style>.paper { fill: #ffffff } .ink { fill: #1f2933 } .mark { fill: #1f5fa8 } .frame { fill: none; stroke: #7b8794 } .grid { fill: none; stroke: #ffffff } text { font: 12px sans-serif } @media (prefers-color-scheme: dark) { .paper { fill: #12161c } .ink { fill: #e4e7eb } .mark { fill: #7cb7ff } .grid { stroke: #12161c } }</style>
            <rect class="paper" width="100%" height="100%"/>
            <text class="ink" x="64" y="20" font-weight="bold">Jacobian of `f&lt;T&gt;` by `x`</text>
            <text class="ink" x="64" y="37">2 x 3, 3 entries, 2 colours</text>
            <g transform="translate(64 64)">
            <rect class="mark" x="0.00" y="0.00" width="320.00" height="160.00" opacity="1.000"/>
            <rect class="mark" x="320.00" y="160.00" width="160.00" height="160.00" opacity="1.000"/>
            <path class="grid" d="M0 160.00H480.00M160.00 0V320.00M320.00 0V320.00"/>
            <rect class="frame" width="480.00" height="320.00"/>
            <text class="ink" x="0" y="336.00">0</text>
            <text class="ink" x="480.00" y="336.00" text-anchor="end">3</text>
            <text class="ink" x="240.00" y="352.00" text-anchor="middle">column</text>
            <text class="ink" x="-6" y="10" text-anchor="end">0</text>
            <text class="ink" x="-6" y="320.00" text-anchor="end">2</text>
            <text class="ink" transform="translate(-40 160.00) rotate(-90)" text-anchor="middle">row</text>
            </g>
            </svg>
        "#]].assert_eq(&svg);
    }

    #[test]
    fn a_large_pattern_takes_no_more_marks_than_cells() {
        let rows: Vec<Vec<u32>> = (0..5000u32).map(|k| vec![k, (k * 7) % 5000]).collect();
        let pattern = SparsePattern::from_rows(5000, &rows).expect("all columns are there");
        let svg = spy_plot(&pattern, "large", "");
        assert!(is_balanced(&svg), "{svg}");
        let marks = svg.matches("class=\"mark\"").count();
        assert!((200..=200 * 200).contains(&marks), "{marks}");
    }

    #[test]
    fn a_pattern_without_rows_is_an_empty_frame() {
        let pattern = SparsePattern::from_rows(0, &[]).expect("all columns are there");
        let svg = spy_plot(&pattern, "nothing", "");
        assert!(is_balanced(&svg) && !svg.contains("class=\"mark\""), "{svg}");
    }
}
