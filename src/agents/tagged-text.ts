/**
 * Text of the last `<tag>…</tag>` element; a missing closing tag ends it with the text. Undefined without the tag. The end tag is looked
 * for behind the start tag, never the start tag twice.
 */
export function taggedText(text: string, tag: string): string | undefined {
  const close = text.lastIndexOf(`</${tag}>`);
  const open = text.lastIndexOf(`<${tag}>`, close === -1 ? undefined : close);
  if (open === -1) return undefined;
  return text.slice(open + tag.length + 2, close > open ? close : undefined);
}

/** Texts of all `<tag>…</tag>` elements that are closed, in order. */
export function taggedTexts(text: string, tag: string): string[] {
  const found: string[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf(`<${tag}>`, at);
    if (open === -1) return found;
    const close = text.indexOf(`</${tag}>`, open);
    if (close === -1) return found;
    found.push(text.slice(open + tag.length + 2, close));
    at = close + tag.length + 3;
  }
}
