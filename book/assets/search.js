(() => {
  // The search: sections that hold a question's words, the best first, as one types. What it looks
  // through, sections.js, is loaded when a reader first goes to a field; see attnbook_search.py.
  const HOME = document.documentElement.dataset.content_root || "./";
  const MOST = { panel: 8, page: 30 }; // results shown
  const [LETTERS, WORDS] = [400, 20]; // of a question, that are looked for
  const WORD = /[\p{L}\p{N}_]+(?:[-'’.](?=[\p{L}\p{N}_])[\p{L}\p{N}_]+)*/gu;
  const SENTENCE = /(?<=[.!?…][”’)]?) +(?=[\p{Lu}“(√])|\n/u;

  // ---- words ----

  /** A word without what grammar adds: queries, scaling, scaled, normalization. */
  const stem = (word) => {
    const bare = word.normalize("NFD").replace(/\p{M}/gu, "").replace(/iz(?=e|ing|ation)/, "is").replace(/ies$/, "y").replace(/([^su])s$/, "$1");
    if (bare.length < 5) return bare.length > 3 ? bare.replace(/e$/, "") : bare;
    return bare.replace(/(?<=\p{L}{3})(?:ing|ed|e)$/u, "").replace(/([bdgmnpt])\1$/, "$1");
  };

  const setOf = (words) => new Set(words.split(/\s+/).flatMap((word) => [word, stem(word)]));
  const EMPTY = setOf(
    `a an and are as be by can do does exactly for from get gets how i if in is it its me no not of on or s so
    t that the this through to us used using vs versus what when where which why with without you`,
  );
  // words that ask, and ask for nothing; other languages' come with the sections
  const ASKING = new Set([...EMPTY, ...setOf(
    `about almost am any between but compare compared comparison could differ difference every explain happen has
    have list many mean much my need per really should take takes than their then there they understand was we were
    will work would your`,
  )]);

  const BETWEEN = new Set(["and", "or", "vs", "versus"]);

  /** A word's stems, first as one, then its parts: multi-head is multihead, multi and head. */
  const stemsAnew = (word) => {
    const low = word.toLowerCase();
    if (/^[\d.]+$/.test(low)) return [low];
    const whole = stem(low.replace(/[-'’]/g, ""));
    if (word.includes(".")) return [whole, ...word.split(".").flatMap(stemsOf)];
    const parts = word.split(/[-'’_]|(?<=\p{Ll}{2})(?=\p{Lu}\p{Ll})/u).filter(Boolean);
    return parts.length > 1 ? [whole, ...parts.map((part) => stem(part.toLowerCase()))] : [whole];
  };
  const stemmed = new Map(); // the book's words come again and again
  const stemsOf = (word) => {
    if (!stemmed.has(word)) stemmed.set(word, stemsAnew(word));
    return stemmed.get(word);
  };
  const wordsOf = (text) => text.match(WORD) ?? [];
  const partsOf = (text) => wordsOf(text).flatMap((word) => stemsOf(word).slice(stemsOf(word).length > 1));
  const telling = (stems, empty = EMPTY) => {
    const found = stems.filter((one) => !empty.has(one));
    return found.length ? found : stems;
  };

  /** Whether one letter more, less, other, or two that changed places, make one word the other. */
  const near = (a, b) => {
    if (Math.abs(a.length - b.length) > 1) return false;
    let at = 0;
    while (at < a.length && a[at] === b[at]) at++;
    const [x, y] = [a.slice(at), b.slice(at)];
    const swapped = x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2);
    return swapped || x.slice(1) === y.slice(1) || x.slice(1) === y || x === y.slice(1);
  };

  const begins = (word, part) => part.length > 2 && word.startsWith(part);

  /** Where a phrase of stems stands among others, or -1; the last may be typed in part, a long one have an ending. */
  const placeOf = (phrase, stems) => {
    const last = (at, i) => i && i === phrase.length - 1 && at + i === stems.length - 1;
    const longer = (one, typed) => one.length > 7 && typed?.startsWith(one) && typed.length < one.length + 4;
    const same = (one, at, i) =>
      stems[at + i] === one || (last(at, i) && begins(one, stems[at + i])) || longer(one, stems[at + i]);
    return stems.findIndex((_, at) => phrase.every((one, i) => same(one, at, i)));
  };

  // ---- what is looked through ----

  /** Lectures teach; teachers' pages speak of them, summaries and other texts' slips repeat them. */
  const worthOf = (page, title, text) => {
    if (page === "notebooks/other-texts.html") return 0.5;
    if (!page.startsWith("notebooks/")) return /api|teaching|bibliography/.test(page) ? 0.35 : 0.45;
    if (/\b(exercises|summary)$/i.test(title)) return 0.5;
    if (/\bthe question$/i.test(title)) return 0.6; // it asks, another section answers
    return /\bfurther\b/i.test(title) || !text ? 0.75 : 1;
  };

  /** Of each stem the sections that hold it, and what it is worth there. */
  const build = ({ pages, words, absent, asking, between }) => {
    for (const one of setOf(asking)) ASKING.add(one);
    for (const one of between.split(" ")) BETWEEN.add(one);
    const [docs, held] = [[], new Map()];
    const note = (text, doc, worth) => {
      const counts = new Map();
      for (const one of wordsOf(text).flatMap(stemsOf)) counts.set(one, (counts.get(one) ?? 0) + 1);
      for (const [one, count] of counts) {
        if (!held.has(one)) held.set(one, new Map());
        held.get(one).set(doc, worth(held.get(one).get(doc) ?? 0, count));
      }
    };
    const every = new Set(pages.flatMap(([, rows]) => rows.flatMap((row) => row[5].map(([name]) => name))));
    const forms = (name) => [name, name.split(",")[0]].filter((one) => one === name || !every.has(one));
    const terms = (named) =>
      named.flatMap(([name, place]) => forms(name).map((one) => ({ name: telling(partsOf(one)), place })));
    for (const [page, rows] of pages) {
      const of = rows[0]?.[1];
      for (const [place, title, above, text, code, named] of rows) {
        const doc = { page, place, title, above, text, of, worth: worthOf(page, title, text), name: partsOf(title) };
        Object.assign(doc, { terms: terms(named), run: ` ${partsOf(text).join(" ")} ` });
        note(code, doc, () => 0.4);
        note(text, doc, (_, count) => Math.min(0.75 + count / 4, 3.5));
        note(text.split(SENTENCE, 1)[0], doc, (worth) => Math.max(worth, 2.5));
        note(named.map(([name]) => name).join(" "), doc, (worth) => Math.max(worth, 2));
        note(of, doc, (worth) => worth && worth + 1);
        const long = telling(doc.name).filter((one) => !/^[\d.]+$/.test(one)).length;
        note(title, doc, (worth) => worth + 4 + 6 / Math.max(1, long));
        docs.push(doc);
      }
    }
    for (const one of [...Object.keys(words), ...absent.flatMap(({ names }) => names)].flatMap(partsOf))
      if (!held.has(one)) held.set(one, new Map()); // a known word, though in no section
    const others = Object.entries(words).map(([theirs, ours]) => ({ theirs, ours, stems: partsOf(theirs) }));
    others.sort((a, b) => b.stems.length - a.stems.length);
    for (const one of absent) one.phrases = one.names.map(partsOf);
    return { docs, held, others, absent };
  };

  let waiting = null;
  const load = () => {
    waiting ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${HOME}_static/sections.js`;
      Object.assign(script, { onload: resolve, onerror: reject });
      document.head.append(script);
    }).then(() => build(globalThis.attnbookSearch));
    return waiting;
  };

  // ---- looking ----

  /** The words that are looked for: as typed, or where one is unknown, the known one near it. */
  const corrected = (held, typed) => {
    const instead = [];
    const sections = (word) => held.get(stemsOf(word)[0])?.size ?? -1;
    const words = typed.map((word) => {
      const low = word.toLowerCase();
      const there = stemsOf(word).some((one) => held.has(one)) || [...held.keys()].some((one) => one.startsWith(low));
      if (there || low.length < 5 || low.length > 30) return word;
      const like = [...stemmed.keys()].filter((one) => one.length > 4 && near(low, one.toLowerCase()) && sections(one) >= 0);
      if (!like.length) return word;
      const [best] = like.sort((a, b) => sections(b) - sections(a));
      instead.push([word, best.toLowerCase()]);
      return best.toLowerCase();
    });
    return { words, instead };
  };

  /** Put the book's words in the place of students': the stems, and what was put for what. */
  const translated = (others, stems) => {
    const named = [];
    let found = stems;
    for (const { theirs, ours, stems: phrase } of others) {
      const at = placeOf(phrase, found);
      if (at < 0) continue;
      found = found.toSpliced(at, phrase.length, ...partsOf(ours).map((one) => `=${one}`));
      named.push([theirs, ours]);
    }
    return { stems: found.map((one) => one.replace(/^=/, "")), named };
  };

  /** The stems of the book that a question's stem stands for, each with a factor. */
  const meant = (held, one, raw) => {
    const found = new Map(held.has(one) ? [[one, 1]] : []);
    const share = held.has(one) ? 0.3 : 0.8;
    for (const other of held.keys()) if (other !== one && begins(other, raw)) found.set(other, share);
    return found;
  };

  /** What stands on either side of an "and" or a "vs": of each its stems, and those in the book's words. */
  const sidesOf = (others, words) => {
    const sides = [[]];
    for (const word of words) {
      if (BETWEEN.has(word.toLowerCase())) sides.push([]);
      else sides.at(-1).push(...partsOf(word));
    }
    const said = sides.filter((stems) => stems.some((one) => !ASKING.has(one)));
    return said.length > 1 ? said.map((stems) => [telling(stems, ASKING), translated(others, stems).stems]) : [];
  };

  const rank = ({ docs, held }, stems, raws, phrases, sides) => {
    const rare = (one) => Math.log(1 + docs.length / (1 + (held.get(one)?.size ?? 0))) ** 2;
    const words = [...new Set(telling(stems, ASKING))].map((one) => ({
      rare: rare(one), meant: meant(held, one, raws.get(one) ?? ""),
    }));
    const total = words.reduce((sum, word) => sum + word.rare, 0);
    const asked = new Set(stems);
    const found = new Map();
    for (const word of words) {
      const here = new Map();
      for (const [one, factor] of word.meant)
        for (const [doc, worth] of held.get(one)) here.set(doc, Math.max(here.get(doc) ?? 0, factor * worth));
      for (const [doc, worth] of here) {
        const so = found.get(doc) ?? { score: 0, cover: 0 };
        found.set(doc, { score: so.score + (word.rare * worth) / total, cover: so.cover + word.rare / total });
      }
    }
    const often = (text, part) => Math.min(text.split(part).length - 1, 3);
    /** How much of the question is a term that the section introduces or uses, and speaks of. */
    const share = ({ terms, run }) => {
      const worths = terms.map(({ name, place }) => {
        if (!name.every((one) => asked.has(one)) && !asked.has(name.join(""))) return 0;
        const part = Math.min(1, name.reduce((sum, one) => sum + rare(one), 0) / total);
        return (part ** 2 * (5 + often(run, ` ${name.join(" ")} `))) / (1 + place / 2);
      });
      return Math.max(0, ...worths);
    };
    const told = stems.map((one) => !EMPTY.has(one));
    const pairs = stems.flatMap((one, i) => (told[i] && told[i - 1] ? [` ${stems[i - 1]} ${one} `] : []));
    const together = (text) => pairs.reduce((sum, pair) => sum + often(text, pair), 0) / (pairs.length || 1);
    for (const [doc, so] of found) {
      so.score += share(doc) + together(` ${doc.name.join(" ")} `) * 4 + together(doc.run) * 2.5;
      const named = [...doc.name, ...doc.terms.filter(({ place }) => !place).flatMap(({ name }) => name)];
      if (sides.length && sides.every((side) => side.some((ways) => ways.every((one) => named.includes(one))))) so.score += 6;
      for (const phrase of phrases) {
        const at = placeOf(phrase, doc.name);
        if (at < 0 || (phrase.length < 2 && doc.name.length > 1)) continue;
        Object.assign(so, { score: so.score + 4, meant: true });
      }
    }
    return { found, marks: words.flatMap((word) => [...word.meant.keys()]) };
  };

  const search = (book, question) => {
    const asked = question.slice(0, LETTERS);
    const typed = wordsOf(asked);
    const { words, instead } = corrected(book.held, typed.slice(0, WORDS));
    const name = asked.trim().replace(/\(\)?$/, "");
    const own = (doc) => doc.page.endsWith("/api.html") && `.${doc.title}`.endsWith(`.${name}`);
    const code = /\p{L}[_(]|_\p{L}|\p{L}\.\p{L}/u.test(asked) || (/\p{Ll}\p{Lu}/u.test(name) && book.docs.some(own));
    const raws = new Map();
    const stems = words.flatMap((word) => {
      const [whole, ...parts] = stemsOf(word);
      if (!parts.length || (code && book.held.has(whole))) raws.set(whole, word.toLowerCase());
      return parts.length && !(code && book.held.has(whole)) ? parts : [whole];
    });
    const { stems: ours, named } = translated(book.others, stems);
    const sides = sidesOf(book.others, words);
    const ranked = [rank(book, stems, raws, [], sides)];
    const phrases = named.map(([, one]) => partsOf(one));
    if (named.length) ranked.push(rank(book, ours, new Map(), phrases, sides));
    const all = new Map();
    for (const { found } of ranked)
      for (const [doc, { score, cover, meant }] of found) {
        const worth = !code ? doc.worth : own(doc) ? 9 : /api/.test(doc.page) ? 1.2 : doc.worth;
        const now = { doc, cover, meant, score: score * worth * (meant ? Math.max(cover, 0.9) : cover) ** 2 };
        if (!(all.get(doc)?.score >= now.score)) all.set(doc, now);
      }
    const absent = book.absent.find((one) => one.phrases.some((phrase) => placeOf(phrase, stems) >= 0));
    const most = Math.max(0, ...[...all.values()].map(({ cover }) => cover));
    const best = [...all.values()].filter(({ cover, meant }) => meant || cover >= (absent ? 0.99 : 0.5 * most));
    best.sort((a, b) => b.score - a.score);
    return {
      best: best.map(({ doc }) => doc), marks: new Set(ranked.flatMap(({ marks }) => marks)), instead, named, absent,
      words, whole: most > 0.99, cut: question.length > LETTERS || typed.length > WORDS,
    };
  };

  // ---- showing: all text goes in as text ----

  const made = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children);
    return node;
  };

  /** The sentence of a section that holds most of the words, which are marked. */
  const snippet = (doc, marks) => {
    const marked = (word) => stemsOf(word).some((one) => marks.has(one) && !EMPTY.has(one));
    let best = { text: "", count: -1, found: [] };
    for (const text of doc.text.split(SENTENCE)) {
      const found = [...text.matchAll(WORD)].filter(([word]) => marked(word));
      const count = new Set(found.map(([word]) => stemsOf(word)[0])).size;
      if (count > best.count) best = { text, count, found };
    }
    const first = best.found[0]?.index ?? 0;
    const from = first > 110 ? best.text.lastIndexOf(" ", first - 50) + 1 : 0;
    const to = best.text.length - from > 190 ? best.text.lastIndexOf(" ", from + 180) : best.text.length;
    const shown = made("span", "search-line", from ? "… " : "");
    let at = from;
    for (const { 0: word, index } of best.found) {
      if (index < from || index + word.length > to) continue;
      shown.append(best.text.slice(at, index), made("mark", "", word));
      at = index + word.length;
    }
    shown.append(best.text.slice(at, Math.max(at, to)), to < best.text.length ? " …" : "");
    return shown;
  };

  const quoted = (text) => `“${text.length > 60 ? `${text.slice(0, 60)} …` : text}”`;

  const told = (question, found, most) => {
    const { best, words, instead, named, absent, whole, cut } = found;
    if (!words.length) return ["Type a word: all lectures and all pages around them are searched."];
    const said = instead.map(([typed, known]) => `Instead of ${quoted(typed)}: ${known}.`);
    if (absent) said.push(absent.says);
    else if (named.length) said.push(`Here called ${named.map(([, ours]) => ours).join(", ")}.`);
    if (cut) said.push(`Only the first ${words.length} words were looked for.`);
    const count = best.length === 1 ? "1 section" : `${best.length} sections`;
    if (absent && !best.length) return said;
    if (!best.length) said.push(`Nothing in the book holds ${quoted(question)}. Try another word, or fewer.`);
    else if (!whole) said.push(`No section holds all the words of ${quoted(question)}; ${count} hold some of them.`);
    else said.push(`${count}${best.length > most ? `, the best ${most} shown` : ""}.`);
    return said;
  };

  /** The lines of one answer: what is said, where to read of what is left out, and the sections. */
  const answer = async (question, most) => {
    const found = search(await load(), question);
    const links = (found.absent?.read ?? []).flatMap(([text, place], i) => {
      const link = made("a", "", text);
      link.href = place.startsWith("https:") ? place : HOME + place;
      return i ? [" · ", link] : ["Where to read: ", link];
    });
    const rows = found.best.slice(0, most).map((doc) => {
      const where = doc.title === doc.of ? "" : `${doc.above.includes(".") ? `in ${doc.above}, ` : "in "}${doc.of}`;
      const link = made("a", "", made("span", "search-title", doc.title));
      link.href = `${HOME}${doc.page}#${doc.place}`;
      return { link, where: made("span", "search-where", where), line: snippet(doc, found.marks) };
    });
    const read = links.length ? made("p", "search-read", ...links) : "";
    return { said: told(question, found, most).join(" "), read, rows, count: found.best.length };
  };

  /** A function that answers what stands in a field, as it does whenever that changes. */
  const answers = (field, status, most, put) => {
    const show = async () => {
      const question = field.value.trim();
      try {
        const found = await answer(question, most);
        if (question !== field.value.trim()) return; // typed on in the meantime
        status.textContent = found.said;
        put(found, question);
      } catch {
        status.textContent = "The list of sections could not be loaded, so nothing can be searched.";
      }
    };
    field.addEventListener("input", show);
    return show;
  };
  const set = (node, named) => Object.entries(named).forEach(([name, value]) => node.setAttribute(name, value));
  const status = made("p", "search-said");
  set(status, { role: "status" });

  // ---- the page of the search ----

  const results = document.getElementById("search-results");
  if (results) {
    const rest = made("div");
    results.replaceChildren(status, rest);
    const field = document.querySelector(".bd-search-container input[type=search]");
    const show = answers(field, status, MOST.page, ({ read, rows }, question) => {
      const items = rows.map(({ link, where, line }) => made("li", "", link, " ", where, line));
      rest.replaceChildren(read, made("ol", "search-sections", ...items));
      results.dataset.for = question;
    });
    field.value = (new URLSearchParams(location.search).get("q") || "").trim();
    show();
    return; // the theme opens no other field here
  }

  // ---- the field that opens over every other page ----

  const wrapper = document.querySelector(".search-button__wrapper");
  const field = wrapper?.querySelector("input");
  if (!field) return;
  const list = made("div", "search-options");
  const read = made("div");
  const more = made("a", "search-more");
  const box = wrapper.querySelector(".search-button__search-container");
  const closed = () => {
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  set(box, { role: "dialog", "aria-modal": "true", "aria-label": "Search this book" });
  set(field, { role: "combobox", "aria-controls": "search-options", "aria-autocomplete": "list" });
  set(list, { role: "listbox", id: "search-options", "aria-label": "Sections" });
  closed();
  box.append(made("div", "search-panel", status, read, list, more));

  const chosen = () => list.querySelector("[aria-selected=true]");
  const choose = (option) => {
    chosen()?.setAttribute("aria-selected", "false");
    if (!option) return;
    option.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  };

  const show = answers(field, status, MOST.panel, (found, question) => {
    read.replaceChildren(found.read);
    const options = found.rows.map(({ link, where, line }, i) => {
      set(link, { role: "option", id: `search-option-${i}`, tabindex: "-1", "aria-selected": "false" });
      link.append(" ", where, line);
      return link;
    });
    list.replaceChildren(...options);
    closed();
    field.setAttribute("aria-expanded", String(options.length > 0));
    choose(options[0]);
    more.hidden = found.count <= MOST.panel;
    more.href = `${HOME}search.html?q=${encodeURIComponent(question)}`;
    more.textContent = `All ${found.count} sections`;
  });

  let before = null; // where the reader was
  field.addEventListener("focus", ({ relatedTarget }) => {
    before = relatedTarget ?? before;
    show();
  });
  field.addEventListener("keydown", (event) => {
    const [option, all] = [chosen(), [...list.children]];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && all.length) choose(all.at((all.indexOf(option) + step) % all.length));
    else if (event.key === "Enter" && option && !event.isComposing) option.click();
    else return; // Escape is the theme's; Enter without a result goes to the page of the search
    event.preventDefault();
  });
  const leave = () => {
    before = null;
    wrapper.classList.remove("show");
  };
  list.addEventListener("click", leave);
  wrapper.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !wrapper.contains(relatedTarget)) leave();
  });
  new MutationObserver(() => {
    if (wrapper.classList.contains("show")) return;
    before?.focus();
    before = null;
  }).observe(wrapper, { attributeFilter: ["class"] });
})();
