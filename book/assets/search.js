(() => {
  // The search: sections that hold a question's words, the best first, as one types. What it looks
  // through, sections.js, is loaded when a reader first goes to a field; see attnbook_search.py.
  const HOME = document.documentElement.dataset.content_root || "./";
  const MOST = { panel: 8, page: 30 }; // results shown
  const [LETTERS, WORDS] = [400, 20]; // of a question, that are looked for
  const WORD = /[\p{L}\p{N}_]+(?:[-'’.](?=[\p{L}\p{N}_])[\p{L}\p{N}_]+)*/gu;
  const NUMBER = /^[\dE]+(\.\d+)?\.? /;
  const SENTENCE = /(?<=[.!?…][”’)]?) +(?=[\p{Lu}“(√])|\n/u;

  // ---- words ----

  // what grammar adds to a word, in its order: queries, scaling, normalization, interpretability, positional
  const ENDINGS = [
    [/iz(?=e|ing|ation)/, "is"], [/ies$/, "y"], [/([^su])s$/, "$1"], [/(?<=.{4})(?:ab|ib)(?:ility|le)$/, ""],
    [/ication$/, "y"], [/(?<=.{3}[st]ion)al$/, ""], [/(?<=.{4}[st])ion$/, ""], [/(?<=[^p]l?.{3})ly$/, ""],
    [/(?<=.{3})(?:ing|ed|e)$/, ""], [/(?<=.{5})at$/, ""], [/(?<=.{3})[yi]$/, "i"], [/([bdglmnpt])\1$/, "$1"],
  ];

  /** A word without what grammar adds. */
  const stem = (word) => {
    let bare = word.normalize("NFD").replace(/\p{M}/gu, "");
    for (const [ending, put] of ENDINGS.slice(0, bare.length < 5 ? 3 : ENDINGS.length)) bare = bare.replace(ending, put);
    return bare.length === 4 ? bare.replace(/e$/, "") : bare;
  };

  const plain = (word) => word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  // words that bind others, words that ask and ask for nothing, and ordinary ones; see search.toml
  const [EMPTY, ASKING, ORDINARY] = [new Set(), new Set(), new Set()];
  const asks = (word) => ASKING.has(word) || EMPTY.has(word);

  /** A word's stems, first as one, then its parts: multi-head is multihead, multi and head. */
  const stemsAnew = (word) => {
    const low = word.toLowerCase();
    if (/^[\d.]+$/.test(low)) return [low];
    const whole = stem(low.replace(/[-'’]/g, ""));
    if (word.includes(".")) return [whole, ...word.split(".").flatMap(stemsOf)];
    const parts = word.split(/[-'’_]|(?<=\p{Ll}{2})(?=\p{Lu}\p{Ll})/u).filter(Boolean);
    return parts.length > 1 ? [whole, ...parts.map((part) => stemsOf(part.toLowerCase())[0])] : [whole];
  };
  const stemmed = new Map(); // the book's words come again and again
  const stemsOf = (word) => {
    if (!stemmed.has(word)) stemmed.set(word, stemsAnew(word));
    return stemmed.get(word);
  };
  const wordsOf = (text) => text.match(WORD) ?? [];
  const singly = (word) => stemsOf(word).slice(stemsOf(word).length > 1);
  const partsOf = (text) => wordsOf(text).flatMap(singly);
  const telling = (stems, empty = EMPTY) => {
    const found = stems.filter((one) => !empty.has(one));
    return found.length ? found : stems;
  };

  /** How many letters more, less, other, or in another order, make one word the other, if at most so many. */
  const apart = (a, b, most) => {
    if (Math.abs(a.length - b.length) > most) return Infinity;
    let [before, last] = [[], [...Array(b.length + 1).keys()]];
    for (let i = 1; i <= a.length; i++) {
      const now = [i];
      for (let j = 1; j <= b.length; j++) {
        now[j] = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) now[j] = Math.min(now[j], before[j - 2] + 1);
      }
      if (Math.min(...now) > most) return Infinity;
      [before, last] = [last, now];
    }
    return last[b.length] > most ? Infinity : last[b.length];
  };

  const begins = (word, part) => part.length > 2 && word.startsWith(part);

  /** Where a phrase of stems stands among others, or -1; the last may be typed in part. */
  const placeOf = (phrase, stems) => {
    const last = (at, i) => i && i === phrase.length - 1 && at + i === stems.length - 1;
    const same = (one, at, i) => stems[at + i] === one || (last(at, i) && begins(one, stems[at + i]));
    return stems.findIndex((_, at) => phrase.every((one, i) => same(one, at, i)));
  };

  // ---- what is looked through ----

  const isApi = (page) => page.endsWith("/api.html");

  /** Lectures teach; teachers' pages speak of them, summaries and other texts' slips repeat them. */
  const worthOf = (page, title, text) => {
    if (/^notebooks\/(other-texts|evidence\/)/.test(page)) return 0.5; // a lesson comes first
    if (!page.startsWith("notebooks/")) return /api|teaching|bibliography|decisions/.test(page) ? 0.35 : 0.45;
    if (/\b(exercises|summary)$/i.test(title)) return 0.5;
    if (/\bthe question$/i.test(title)) return 0.6; // it asks, another section answers
    return /\bfurther\b/i.test(title) || !text ? 0.75 : 1;
  };

  /** What shares a place in the list: parts of a section, a page that is no lecture, teachers' pages on lectures, exercises. */
  const familyOf = (page, place, title, above) => {
    if (isApi(page) || place.startsWith("term-")) return null;
    if (!/^notebooks\/\d/.test(page)) return page.replace(/(?<!evidence\/)\d.*/, "");
    if (place === "exercises") return place;
    const number = /^\d+\.\d+/.exec(title)?.[0] ?? above;
    return number.includes(".") ? `${page} ${number}` : null;
  };

  /** Of each stem the sections that hold it with what it is worth there, and the names of sections that it stands in. */
  const build = ({ pages, words, alike, absent, empty, asking, abroad, ordinary }) => {
    for (const one of empty.split(/\s+/)) EMPTY.add(one).add(stem(one));
    for (const one of `${asking} ${abroad}`.split(/\s+/)) ASKING.add(plain(one));
    for (const one of ordinary.split(/\s+/)) ORDINARY.add(stem(one));
    const [docs, names, held, named] = [[], [], new Map(), new Map()];
    const put = (map, key, value) => map.get(key)?.push(value) ?? map.set(key, [value]);
    for (const [page, rows] of pages) {
      const of = rows[0]?.[1];
      for (const [place, title, above, text, code, terms, asked = ""] of rows) {
        const doc = { page, place, title, above, text, of, worth: worthOf(page, title, text) };
        doc.family = familyOf(page, place, title, above) ?? doc;
        const here = new Map();
        const note = (text, worth) => {
          const counts = new Map();
          for (const one of wordsOf(text).flatMap(stemsOf)) counts.set(one, (counts.get(one) ?? 0) + 1);
          for (const [one, count] of counts) here.set(one, worth(here.get(one) ?? 0, count));
        };
        note(code, () => 0.4);
        note(text, (_, count) => Math.min(0.75 + count / 3, 4));
        note(asked, (worth) => Math.max(worth, 2) + 0.5);
        const long = telling(partsOf(title)).filter((one) => !/^[\d.]+$/.test(one)).length;
        note(title, (worth) => worth + 4 + 6 / Math.max(1, long));
        for (const [one, worth] of here) put(held, one, [docs.length, worth]);
        const call = (text, worth, empty = EMPTY) => {
          const all = partsOf(text);
          const name = { doc: docs.length, stems: [...new Set(telling(all, empty))], worth, all: ` ${all.join(" ")} ` };
          name.asks = all.length > name.stems.length;
          for (const one of name.stems) put(named, one, [names.length, 1]);
          names.push(name);
        };
        if (!isApi(page)) call(title.replace(NUMBER, ""), 0.9);
        for (const [name, at] of terms) call(name, 1 / (1 + at / 2));
        for (const one of asked.split(/; ?/).filter(Boolean)) call(one, 0.9, ASKING);
        docs.push(doc);
      }
    }
    for (const one of [...Object.keys({ ...words, ...alike }), ...absent.flatMap(({ names }) => names)].flatMap(partsOf))
      if (!held.has(one)) held.set(one, []); // a known word, though in no section
    const others = Object.entries({ ...words, ...alike }).map(([theirs, ours]) => ({ theirs, ours, quiet: !words[theirs], stems: partsOf(theirs), way: partsOf(ours) }));
    others.sort((a, b) => b.stems.length - a.stems.length);
    for (const one of absent) one.phrases = one.names.map(partsOf);
    /** A word that stands in few sections tells most, and little where no section is called by it. */
    const rare = (one) => Math.log(1 + docs.length / (1 + (held.get(one)?.length ?? 0))) ** 1.4 * (!named.has(one) ? 0.3 : ORDINARY.has(one) ? 0.5 : 1);
    for (const name of names) name.size = name.stems.reduce((sum, one) => sum + rare(one), 0);
    const spelt = new Map(); // by their first letter, words that may be meant, with a measure of how well known they are
    for (const one of stemmed.keys()) {
      const [word, [known]] = [one.toLowerCase(), stemsOf(one)];
      if (held.has(known) && word.length > 3) put(spelt, word[0], [word, 3 * named.has(known) + Math.log(1 + held.get(known).length)]);
    }
    const book = { docs, names, held, named, rare, spelt, absent };
    return { ...book, others: others.filter(({ stems, way }) => `${stems}` !== `${way}`) };
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

  const starting = (held, part) => (part.length > 2 ? [...held.keys()].filter((one) => one.startsWith(part)) : []);

  /** The known word that is most like an unknown one, if any: few letters apart, and what sections are called by first. */
  const nearest = ({ spelt }, low, begun) => {
    const most = low.length < 7 ? 1 : 2;
    let best = { fit: low.length < 5 ? -5 : begun ? -2 : -99, word: "" };
    for (const first of new Set(low.slice(0, 2)))
      for (const [word, known] of spelt.get(first) ?? []) {
        const fit = known + 4 * (low[0] === first) - 10 * apart(low, word, most);
        if (fit > best.fit) best = { fit, word };
      }
    return best.word;
  };

  /** Two known words that were written as one: selfattention, Aufmerksamkeitsmaske. */
  const cut = (held, low) => {
    const knows = (part) => part.length > 3 && held.has(stem(part));
    for (let at = low.length - 4; at > 3; at--) {
      const [left, right] = [low.slice(0, at), low.slice(at)];
      if (knows(left) && knows(right)) return [left, right];
    }
    return null;
  };

  const mended = new Map();

  /** The words that are looked for: as typed, or where one is unknown, its parts or the known one near it. */
  const corrected = (book, typed) => {
    const { held } = book;
    const instead = [];
    const words = typed.flatMap((word, i) => {
      const [low, last] = [word.toLowerCase(), i === typed.length - 1];
      if (stemsOf(word).some((one) => held.has(one)) || asks(plain(word)) || low.length < 3 || low.length > 30) return word;
      const key = `${low} ${last}`;
      if (!mended.has(key)) {
        const begun = starting(held, low).length > 0;
        mended.set(key, last && begun ? [] : (cut(held, plain(word)) ?? [nearest(book, low, begun)].filter(Boolean)));
      }
      const known = mended.get(key);
      if (known.length) instead.push([word, known.join(" ")]);
      return known.length ? known : word;
    });
    return { words, instead };
  };

  /** What a question asks for, a word or a phrase at a time: each with the ways in which the book may say it. */
  const unitsOf = ({ held, others }, words, code) => {
    const [named, units] = [[], []];
    const typed = words.flatMap((word, at) => {
      const [whole, ...parts] = stemsOf(word);
      const one = !parts.length || (code && held.has(whole));
      const raw = one && (at === words.length - 1 || !held.has(whole)) ? plain(word) : "";
      return (one ? [whole] : parts).map((stem) => {
        const ways = one && parts.length ? [[stem], parts] : [[stem]];
        return { stem, raw, ways, size: 1, asks: asks(one ? plain(word) : stem) };
      });
    });
    const stems = typed.map(({ stem }) => stem);
    const left = [...stems];
    for (const { theirs, ours, quiet, stems: phrase, way } of others) {
      const at = phrase.length > left.length ? -1 : placeOf(phrase, left);
      if (at < 0) continue;
      const said = stems.slice(at, at + phrase.length);
      left.fill("", at, at + phrase.length);
      units[at] = { raw: "", ways: [said, way], size: said.length };
      if (!quiet) named.push([theirs, ours]);
    }
    for (const [at, one] of left.entries()) if (one) units[at] = typed[at];
    const all = units.filter(Boolean);
    const asking = all.filter((unit) => !unit.asks);
    return { stems, named, units: asking.length ? asking : all };
  };

  /** Of each place that holds stems of a way to say a unit, how much of the way it holds, by worth and in all. */
  const worths = (way, map) => {
    const found = new Map();
    for (const { rare, meant } of way) {
      const here = meant.length > 1 ? new Map() : null; // of several beginnings of a word the best counts
      const add = (at, worth) => {
        const so = found.get(at);
        if (so) [so[0], so[1]] = [so[0] + rare * worth, so[1] + rare];
        else found.set(at, [rare * worth, rare]);
      };
      for (const [one, factor] of meant)
        for (const [at, worth] of map.get(one) ?? []) {
          if (!here) add(at, worth * factor);
          else if (!(here.get(at) >= factor * worth)) here.set(at, factor * worth);
        }
      for (const [at, worth] of here ?? []) add(at, worth);
    }
    return found;
  };

  /** All sections that hold some of it, each with a score; how well one of its names fits counts most. */
  const rank = ({ docs, names, held, named, rare }, units, asked) => {
    const worthOfWay = (way) => way.reduce((sum, one) => sum + one.rare, 0);
    const [score, cover] = [new Float64Array(docs.length), new Float64Array(docs.length)];
    const [share, fit] = [new Float64Array(names.length), new Float64Array(names.length)];
    for (const unit of units) {
      const begun = starting(held, unit.raw);
      unit.ways = unit.ways.map((way) => way.map((one) => {
        const meant = begun.filter((other) => other !== one).map((other) => [other, held.has(one) ? 0.3 : 0.8]);
        return { rare: rare(one), meant: held.has(one) ? [[one, 1], ...meant] : meant };
      }));
      const known = unit.ways.filter((way) => way.some(({ meant }) => meant.some(([one]) => held.get(one).length)));
      const worth = (known.length ? known : unit.ways).map((way) => (worthOfWay(way) / way.length) * unit.size);
      unit.worth = Math.max(...worth);
    }
    const total = units.reduce((sum, { worth }) => sum + worth, 0);
    for (const { ways, worth } of units) {
      const best = [new Map(), new Map()];
      for (const way of ways) {
        const all = worthOfWay(way);
        for (const [i, map] of [held, named].entries())
          for (const [at, [sum, part]] of worths(way, map))
            if (!(best[i].get(at)?.[0] >= sum / all)) best[i].set(at, [sum / all, part / all, sum]);
      }
      for (const [at, [sum, part]] of best[0]) {
        score[at] += (sum * worth) / total;
        cover[at] += (part * worth) / total;
      }
      for (const [at, [sum, , all]] of best[1]) {
        share[at] += (sum * worth) / total;
        fit[at] += all;
      }
    }
    const called = new Float64Array(docs.length);
    for (let at = 0; at < names.length; at++) {
      if (!share[at]) continue;
      const { doc, size, worth, asks, all } = names[at];
      const said = asks && asked.includes(all); // word for word
      called[doc] = Math.max(called[doc], said ? 2 : worth * share[at] * Math.min(1, fit[at] / size) ** 0.6);
    }
    const list = [];
    for (let at = 0; at < docs.length; at++) {
      if (!cover[at]) continue;
      const { worth } = docs[at];
      list.push({ doc: docs[at], cover: cover[at], score: cover[at] ** 2 * (score[at] * worth + 12 * called[at] * worth ** 0.5) });
    }
    return list;
  };

  /** The list by places, each with what leads and at most two of its kind under it; what else there is comes last. */
  const gathered = (list) => {
    const [places, rest] = [new Map(), []];
    for (const { doc, score } of list) {
      const first = places.get(doc.family);
      if (!first) places.set(doc.family, { doc, score, under: [] });
      else if (first.under.length < 2 && score > 0.15 * first.score) first.under.push(doc);
      else rest.push({ doc, under: [] });
    }
    return [...places.values(), ...rest];
  };

  const search = (book, question) => {
    const asked = question.slice(0, LETTERS);
    const typed = wordsOf(asked);
    const { words, instead } = corrected(book, typed.slice(0, WORDS));
    const name = asked.trim().replace(/\(\)?$/, "");
    const own = (doc) => isApi(doc.page) && `.${doc.title}`.endsWith(`.${name}`);
    const code = /\p{L}[_(]|_\p{L}|\p{L}\.\p{L}/u.test(asked) || (/\p{Ll}\p{Lu}/u.test(name) && book.docs.some(own));
    const library = /\b(attnbook|attnlab|package|api)\b/i.test(asked);
    const { stems, named, units } = unitsOf(book, words, code);
    const absent = book.absent.find((one) => one.phrases.some((phrase) => placeOf(phrase, stems) >= 0));
    const ranked = rank(book, units, ` ${stems.join(" ")} `);
    const most = ranked.reduce((most, { cover }) => Math.max(most, cover), 0);
    const list = ranked.filter(({ cover }) => cover >= (absent ? 0.6 : 0.4 * most));
    for (const one of list) if (isApi(one.doc.page)) one.score *= code ? (own(one.doc) ? 25 : 3.4) : library ? 2 : 0.5;
    list.sort((a, b) => b.score - a.score);
    const marks = units.flatMap(({ ways }) => ways.flatMap((way) => way.flatMap(({ meant }) => meant.map(([one]) => one))));
    return {
      best: gathered(list), count: list.length, marks: new Set(marks), instead, named, absent, words, whole: most > 0.99,
      cut: question.length > LETTERS || typed.length > WORDS,
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
    const { best, count: all, words, instead, named, absent, whole, cut } = found;
    if (!words.length) return ["Type a word: all lectures and all pages around them are searched."];
    const said = instead.map(([typed, known]) => `Instead of ${quoted(typed)}: ${known}.`);
    if (absent) said.push(absent.says);
    else if (named.length) said.push(`Searched as: ${named.map(([, ours]) => ours).join(", ")}.`);
    if (cut && words.length > 1) said.push(`Only the first ${words.length} words were looked for.`);
    const count = all === 1 ? "1 section" : `${all} sections`;
    if (absent && !best.length) return said;
    if (!best.length) said.push(`Nothing in the book holds ${quoted(question)}. Try another word, or fewer.`);
    else if (!whole) said.push(`No section holds all the words of ${quoted(question)}; ${count} hold some of them.`);
    else said.push(`${count}${best.length > most ? "; the best are shown" : ""}.`);
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
    const link = ({ page, place, title }) => {
      const node = made("a", "", made("span", "search-title", title));
      node.href = `${HOME}${page}#${place}`;
      return node;
    };
    const beneath = (doc) => Object.assign(link(doc), { className: "search-under" });
    const rows = found.best.slice(0, most).map(({ doc, under }) => {
      const where = doc.title === doc.of ? "" : `${doc.above.includes(".") ? `in ${doc.above}, ` : "in "}${doc.of}`;
      const shown = [" ", made("span", "search-where", where), snippet(doc, found.marks)];
      return { link: link(doc), shown, under: under.map(beneath) };
    });
    const read = links.length ? made("p", "search-read", ...links) : "";
    return { said: told(question, found, most).join(" "), read, rows, count: found.count, more: found.best.length > most };
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
      const items = rows.map(({ link, shown, under }) => made("li", "", link, ...shown, ...under));
      rest.replaceChildren(read, made("ol", "search-sections", ...items));
      results.dataset.for = question;
    });
    const typed = globalThis.attnbookTyped?.();
    field.value ||= typed || (new URLSearchParams(location.search).get("q") || "").trim();
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
    const options = found.rows.flatMap(({ link, shown, under }) => {
      link.append(...shown);
      return [link, ...under];
    });
    for (const [i, option] of options.entries())
      set(option, { role: "option", id: `search-option-${i}`, tabindex: "-1", "aria-selected": "false" });
    list.replaceChildren(...options);
    closed();
    field.setAttribute("aria-expanded", String(options.length > 0));
    choose(options[0]);
    more.hidden = !found.more;
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

  // what was typed before the theme could open the field; see attnbook_search.py
  document.addEventListener("DOMContentLoaded", () => {
    const typed = globalThis.attnbookTyped?.() ?? null;
    if (typed === null) return;
    document.querySelector(".search-button__button")?.click();
    field.value = typed;
    show();
  });
})();
