(() => {
  // The search: which sections hold the words, the best first; see attnbook_search.py.
  const MOST = 30; // results shown
  const WORDS = 20; // words of a question that are looked for
  const EMPTY = new Set("a an and are do does for how in is it of on or the to what why".split(" "));
  // what others call a thing that the book calls by its name
  const OTHER = {
    rope: "rotary", gqa: "grouped-query", mqa: "multi-query", mla: "latent", mha: "multi-head",
    ffn: "feed-forward", mlp: "feed-forward", sdpa: "scaled_dot", seq2seq: "sequence",
    autoregressive: "causal", paged: "pages", llm: "language", lm: "language", nmt: "translation",
  };

  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[-'’][\p{L}\p{N}_]+)*/gu) || [];
  const stem = (word) => (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word);

  /** How often a text holds a word or a longer one that begins with it. */
  const count = (text, word) => {
    let found = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (!at || !/[\p{L}\p{N}]/u.test(text[at - 1])) found++;
    }
    return found;
  };

  /** Words of a question, each with the names that it goes by. */
  const asked = (question) => {
    const all = [...new Set(wordsOf(question))];
    const telling = all.filter((word) => !EMPTY.has(word));
    return (telling.length ? telling : all).slice(0, WORDS).map((word) => {
      const names = [stem(word)];
      if (Object.hasOwn(OTHER, word)) names.push(OTHER[word]);
      return names;
    });
  };

  /** Lectures teach; the teachers' pages speak of them, and summaries repeat them. */
  const weight = ({ page, title }) => {
    if (!page.startsWith("notebooks/")) return /api|teaching|bibliography/.test(page) ? 0.4 : 0.6;
    return /\b(exercises|summary)$/i.test(title) ? 0.5 : 1;
  };

  const sections = (globalThis.attnbookSections || []).flatMap(([page, rows]) =>
    rows.map(([place, title, text, code, taught]) => ({
      page, place, title, text, taught, of: rows[0][1],
      low: { title: title.toLowerCase(), text: text.toLowerCase(), code: code.toLowerCase() },
    })),
  );

  const search = (question) => {
    const words = asked(question);
    const joined = words.map((names) => names[0]).join(" ");
    const phrase = words.length > 1 ? joined : "";
    const taught = new Set(); // the sections that the glossary names for a term
    for (const one of sections) {
      const name = wordsOf(one.title).map(stem).join(" ");
      if (words.length && name.startsWith(joined)) for (const place of one.taught) taught.add(place);
    }
    const found = [];
    for (const one of sections) {
      let held = 0;
      let score = 0;
      const of = one.of.toLowerCase();
      for (const names of words) {
        const worth = Math.max(...names.map((name) => {
          const inTitle = count(one.low.title, name) ? 10 : 0;
          const inText = Math.min(count(one.low.text, name), 8);
          const inCode = Math.min(count(one.low.code, name), 4) / 4;
          const here = inTitle + inText + inCode;
          return here && here + (one.title !== one.of && count(of, name) ? 3 : 0);
        }));
        held += worth > 0;
        score += worth;
      }
      if (!held) continue;
      if (phrase && one.low.title.includes(phrase)) score += 15;
      if (phrase) score += 3 * Math.min(count(one.low.text, phrase), 4);
      if (taught.has(`${one.page}#${one.place}`)) score += 20;
      score *= weight(one);
      const own = one.page.endsWith("/api.html") && `.${one.title}`.endsWith(`.${question}`);
      if (own) score += 50; // a name of the package, given as it is
      found.push({ ...one, held, score });
    }
    const most = Math.max(0, ...found.map((one) => one.held));
    const best = found.filter((one) => one.held === most).sort((a, b) => b.score - a.score);
    return { words, all: most === words.length, best };
  };

  const made = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children);
    return node;
  };

  /** The line of a text around its first found word, which is marked. */
  const line = (one, words) => {
    const names = words.flat();
    const places = names.map((name) => one.low.text.indexOf(name)).filter((at) => at >= 0);
    const from = Math.max(0, Math.min(...places, one.text.length) - 70);
    const start = from && one.text.indexOf(" ", from) + 1;
    const shown = made("p", "");
    if (!places.length) return one.text ? made("p", "", `${one.text.slice(0, 150)} …`) : shown;
    const cut = one.text.slice(start, start + 190);
    const parts = names.join("|"); // letters, digits, hyphens, apostrophes: nothing to escape
    let at = 0;
    if (start) shown.append("… ");
    for (const hit of cut.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts})`, "giu"))) {
      shown.append(cut.slice(at, hit.index), made("mark", "", hit[0]));
      at = hit.index + hit[0].length;
    }
    shown.append(cut.slice(at), " …");
    return shown;
  };

  const show = (question) => {
    const { words, all, best } = search(question);
    const named = `“${question.length > 60 ? `${question.slice(0, 60)} …` : question}”`;
    const how = (n) => (n === 1 ? "1 section holds" : `${n} sections hold`);
    let said = `${how(best.length)} ${named}${best.length > MOST ? `; here are the best ${MOST}` : ""}.`;
    if (!words.length) said = "Type a word: all lectures and all pages around them are searched.";
    else if (!best.length) said = `Nothing in the book holds ${named}. Try another word, or fewer.`;
    else if (!all) said = `No section holds all the words of ${named}; these hold most of them.`;
    const status = made("p", "search-said", said);
    status.setAttribute("role", "status");
    const list = made("ol", "search-sections");
    for (const one of best.slice(0, MOST)) {
      const link = made("a", "", one.title);
      link.href = `${one.page}#${one.place}`;
      const where = one.title === one.of ? "" : made("span", "search-where", ` in ${one.of}`);
      list.append(made("li", "", link, where, line(one, words)));
    }
    document.getElementById("search-results").replaceChildren(status, list);
  };

  const question = (new URLSearchParams(location.search).get("q") || "").trim();
  const field = document.querySelector(".bd-search-container input[type=search]");
  if (field) field.value = question;
  show(question);
})();
