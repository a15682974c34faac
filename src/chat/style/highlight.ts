import type { LanguageFn } from 'highlight.js'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { Paint, Theme } from './theme.ts'

/** Colours code, a string for each line; undefined for an unknown language. `rest` has the style of each line's other text. */
export type Colour = (code: string, language: string, theme: Theme, rest?: readonly Paint[]) => string[] | undefined

const languages: Record<string, LanguageFn> = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}
for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar)

export const colourCode: Colour = (code, language, theme, rest) => {
  if (!hljs.getLanguage(language)) return undefined
  return painted(hljs.highlight(code, { language, ignoreIllegals: true }).value, theme, rest).split('\n')
}

/** Turns the marks of highlight.js into colours, each closed at the end of its line, so that lines can be shown alone. */
function painted(html: string, theme: Theme, rest: readonly Paint[] = []): string {
  const open: (Paint | undefined)[] = []
  let out = ''
  let at = 0
  for (const [, name, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (name !== undefined) open.push(paintOf(name, theme))
    else if (close !== undefined) open.pop()
    else {
      const paint = open.findLast((each) => each !== undefined)
      for (const [nth, line] of unescaped(text!).split('\n').entries()) {
        if (nth > 0) at++
        const marked = paint && line ? paint(line) : line
        const base = rest[at]
        out += (nth > 0 ? '\n' : '') + (base && line ? base(marked) : marked)
      }
    }
  }
  return out
}

function paintOf(name: string, theme: Theme): Paint | undefined {
  switch (/^hljs-(\w+)/.exec(name)?.[1]) {
    case 'keyword':
    case 'selector':
    case 'section':
      return theme.strong
    case 'comment':
    case 'quote':
    case 'meta':
      return theme.quiet
    case 'string':
    case 'regexp':
    case 'number':
    case 'literal':
    case 'symbol':
      return theme.code
    case 'title':
    case 'type':
    case 'built_in':
    case 'name':
    case 'attr':
      return theme.accent
    case 'addition':
      return theme.added
    case 'deletion':
      return theme.removed
    default:
      return undefined
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" }

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name: string) => entities[name]!)
}
