// Colours for the programs of the book: mdBook's highlighter does not know Cotan.
(() => {
  const keywords = {
    keyword:
      "fn kernel let mut if else match for while break continue return in struct enum type const import pub trait impl as",
    literal: "true false inf nan pi",
    type: "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 nat Self",
  };
  hljs.registerLanguage("cot", () => ({
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
  for (const code of document.querySelectorAll("code.language-cot")) {
    // Without what the highlighter noted when it did not know the language.
    code.className = "language-cot";
    hljs.highlightBlock(code);
  }
})();
