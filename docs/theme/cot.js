// Cotan in the book: colours for its programs, and a line above those that are refused, fail or draw a warning.
(() => {
  const keywords = {
    keyword:
      "fn kernel let mut if else match for while break continue return in struct enum type const import pub trait impl as",
    literal: "true false inf nan pi",
    type: "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 nat Self",
  };
  hljs.registerLanguage("cot", (hljs) => ({
    name: "Cotan",
    keywords,
    contains: [
      { className: "comment", begin: /\/\*/, end: /\*\//, contains: ["self"] },
      { className: "comment", begin: /#/, end: /$/ },
      { className: "string", begin: /"/, end: /"/, contains: [{ begin: /\\./ }] },
      { className: "string", begin: /'(\\[^']+|[^\\'])'/ },
      { className: "meta", begin: /@[a-z_]+/ },
      {
        className: "number",
        begin: /\b(0x[0-9a-fA-F_]+|\d[\d_]*(\.\d[\d_]*)?(e[-+]?\d+)?)(_(bf16|[iuf]\d+))?\b/,
      },
      {
        className: "function",
        beginKeywords: "fn kernel",
        end: /[\[({]/,
        excludeEnd: true,
        keywords,
        contains: [{ className: "title", begin: /[A-Za-z_]\w*/ }],
      },
    ],
  }));

  const promises = { error: "Refused with", warns: "Draws the warning", fails: "Fails at run time with" };
  for (const code of document.querySelectorAll("code.language-cot")) {
    const classes = [...code.classList];
    const kind = classes.find((name) => name in promises);
    if (kind) {
      const line = document.createElement("p");
      line.append(`${promises[kind]} `);
      const codes = classes.filter((name) => /^[ERW]\d{4}$/.test(name));
      codes.forEach((name, k) => {
        const link = document.createElement("a");
        link.href = `${path_to_root}errors.html#${name.toLowerCase()}`;
        link.textContent = name;
        line.append(k > 0 ? ", " : "", link);
      });
      line.append(":");
      code.closest("pre").before(line);
    }
    code.className = `language-cot ${kind ?? ""}`;
    hljs.highlightBlock(code);
  }
})();
