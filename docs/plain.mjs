import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Converter, ReflectionKind } from 'typedoc'
import { MarkdownRendererEvent } from 'typedoc-plugin-markdown'

/** What typedoc's options cannot say about the pages. */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kindOf(ReflectionKind.Property)) asWritten(context, reflection)
  })
  app.converter.on(Converter.EVENT_CREATE_SIGNATURE, (context, { parameters = [] }) => {
    for (const parameter of parameters) asWritten(context, parameter)
  })
  // After typedoc's own sorting.
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => project.children?.forEach(sortByName), -1000)
  app.renderer.on(MarkdownRendererEvent.END, ({ outputDirectory, pages }) => {
    const texts = pages.map(({ url }) => [url, withoutEchoes(readFileSync(join(outputDirectory, url), 'utf8'))])
    const places = new Map(texts.map(([url, text]) => [url, placesIn(text)]))
    for (const [url, text] of texts) writeFileSync(join(outputDirectory, url), relinked(text, url, places))
  })
}

/** The compiler works types of these kinds out until nobody can read them. */
function asWritten(context, reflection) {
  if (!['conditional', 'mapped'].includes(reflection.type?.type)) return
  const node = context.getSymbolFromReflection(reflection)?.valueDeclaration?.type
  if (node) reflection.type = context.converter.convertType(context, node)
}

/** Members stay in the order of the source. What a module exports is from many files, which have none. */
function sortByName({ groups = [] }) {
  for (const { children } of groups) children.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The signature above has said it, unless there is a link to follow. And nobody links to a field. */
function withoutEchoes(text) {
  return text
    .replace(/^#+ (Overrides|Implementation of)\n\n.+\n\n?/gm, '')
    .replace(/^#+ Returns\n\n((?:(?!#|\*\*\*).*\n?)+)/gm, (all, type) => (type.includes('](') ? all : ''))
    .replace(/<a id="property-[^"]*"><\/a> /g, '')
    .replace(/ +$/gm, '')
    .replace(/\n*$/, '\n')
}

/** The anchors that GitHub gives to what a page describes: it numbers headings that differ in case only. */
function placesIn(text) {
  const places = new Map()
  const counts = new Map()
  for (const [, level, heading] of text.replace(/^```.*?^```$/gms, '').matchAll(/^(#+) (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    if (level === '###') places.set(heading.replace('()', ''), count === 0 ? slug : `${slug}-${count}`)
  }
  return places
}

/** typedoc numbers them otherwise. */
function relinked(text, page, places) {
  return text.replace(/\[`(\w+)`\]\(([\w.]*)#[\w-]+\)/g, (link, name, other) => {
    const place = places.get(other || page)?.get(name)
    if (!place) throw new Error(`${page}: ${link} leads nowhere.`)
    return `[\`${name}\`](${other}#${place})`
  })
}
