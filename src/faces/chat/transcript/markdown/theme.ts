import type { MarkdownTheme } from '@earendil-works/pi-tui'
import type { Look } from '../look.ts'
import { hyperlink, stripTerminalSequences } from '@earendil-works/pi-tui'

const italic = (text: string) => `\x1b[3m${text}\x1b[23m`
const struck = (text: string) => `\x1b[9m${text}\x1b[29m`
const underlined = (text: string) => `\x1b[4m${text}\x1b[24m`

/** Markdown in the colours of the chat. */
export function markdownTheme({ theme, late, links }: Look): MarkdownTheme {
  const linked = (text: string) => (links ? withLink(text) : text)
  return {
    heading: theme.strong,
    link: (text) => linked(theme.link(text)),
    linkUrl: (text) => linked(theme.quiet(text)),
    code: theme.code,
    codeBlock: (text) => text,
    codeBlockBorder: theme.quiet,
    quote: italic,
    quoteBorder: theme.quiet,
    hr: theme.quiet,
    listBullet: theme.accent,
    bold: theme.strong,
    italic,
    strikethrough: struck,
    underline: underlined,
    highlightCode: (code, language) => late.colour()?.(code, language ?? '', theme) ?? code.split('\n'),
  }
}

/** Only an address that stands there to be read can be clicked: a link leads where it says. */
function withLink(text: string): string {
  const address = /^ ?\(?((?:https?|file):\/\/[^\s<>"'()]+)\)?$/.exec(stripTerminalSequences(text))?.[1]
  if (address === undefined || !URL.canParse(address)) return text
  return hyperlink(text, new URL(address).href)
}
