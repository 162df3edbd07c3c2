//! `cotan --help`, and the examples in the help of each command.

use super::Case;
use super::sessions::words;

/// The commands that the overview lists.
fn commands(case: &Case) -> Vec<String> {
    let overview = case.run(&["--help"]).stdout;
    let lines = overview.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_has_examples_and_they_run() {
    let case = Case::new("");
    let commands = commands(&case);
    assert_eq!(commands.len(), 16, "{commands:?}");
    assert_eq!(case.run(&["new", "line"]).status, Some(0));
    for name in commands {
        let help = case.run(&[&name, "--help"]).stdout;
        let (_, examples) = help.split_once("Examples, in the folder").unwrap_or_else(|| panic!("{name}: {help}"));
        let lines: Vec<&str> = examples.lines().skip(1).filter(|line| !line.is_empty()).collect();
        assert!((2..=3).contains(&lines.len()), "{name}: {examples}");
        for line in lines {
            let words = words(line);
            let args: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            assert_eq!((words[0].as_str(), args[0]), ("cotan", name.as_str()), "{line}");
            let output = case.command(&args).current_dir(case.path("line")).output().expect("the command runs");
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn the_overview_ends_with_the_exit_codes() {
    let overview = Case::new("").run(&["--help"]).stdout;
    assert!(overview.contains("Exit codes: 0 done; 1 errors of the program"), "{overview}");
}
