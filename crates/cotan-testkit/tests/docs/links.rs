//! Links of the book and of the pages at the root of the repository.

use cotan_testkit::book::{Page, chapters, page, pages};
use cotan_testkit::files::{report, workspace_file};
use std::path::{Path, PathBuf};

#[test]
fn every_link_leads_to_a_file_and_to_a_heading_in_it() {
    let mut failures = Vec::new();
    let mut n_links = 0;
    for page in &pages() {
        for link in links(page) {
            n_links += 1;
            if let Err(e) = resolved(page, &link) {
                failures.push(format!("{}: `{link}`: {e}", page.name()));
            }
        }
    }
    report(failures, n_links);
}

/// The targets of links that stay in the repository.
fn links(page: &Page) -> Vec<String> {
    let prose = page.prose().join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

fn resolved(from: &Page, link: &str) -> Result<(), String> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = from.path.parent().unwrap_or(Path::new("."));
    let path = if file.is_empty() { from.path.clone() } else { folder.join(file) };
    if !path.exists() {
        return Err(format!("there is no {}", path.display()));
    }
    if anchor.is_empty() || page(path).anchors().iter().any(|other| other == anchor) {
        return Ok(());
    }
    Err(format!("there is no heading `{anchor}`"))
}

#[test]
fn every_page_is_a_chapter() {
    let summary = page(workspace_file("docs/SUMMARY.md"));
    let folder = summary.path.parent().unwrap_or(Path::new("."));
    let listed: Vec<PathBuf> = links(&summary).iter().map(|link| folder.join(link)).collect();
    for page in chapters() {
        assert!(page.path == summary.path || listed.contains(&page.path), "{} is in no chapter", page.name());
    }
}
