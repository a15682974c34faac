import type { Io } from '../core/io.ts'
import type { RenderContext } from './transcript/markdown/render-context.ts'
import { stripAnsi } from '../base/text/ansi.ts'
import { firstTheme, plain } from './style/theme.ts'
import { Prose } from './transcript/markdown/markdown.ts'
import { canLink, LazyDetails } from './transcript/markdown/render-context.ts'

/** The longest line: longer ones are hard to read. */
const widest = 100

/** Renders Markdown for a terminal as the chat does; for a file or a pipe the same without colours. */
export async function renderedPage(markdown: string, { out, env }: Pick<Io, 'out' | 'env'>): Promise<string> {
  const isTerminal = out.isTTY === true && env.TERM !== 'dumb'
  const context: RenderContext = {
    theme: isTerminal ? firstTheme(env) : plain,
    lazy: isTerminal
      ? await withColours()
      : new LazyDetails(
          () => {},
          () => {},
        ),
    links: isTerminal && canLink(env),
    unnamed: true,
    now: () => 0,
  }
  const width = Math.max(20, Math.min(out.columns ?? widest, widest))
  const text = new Prose().render(markdown, width, context).join('\n')
  return isTerminal ? text : stripAnsi(text)
}

/** The colours of code, which are loaded before anything is rendered; without them code is plain. */
async function withColours(): Promise<LazyDetails> {
  const loaded = Promise.withResolvers<void>()
  const lazy = new LazyDetails(
    () => loaded.resolve(),
    (work) => work(),
  )
  lazy.colour()
  await Promise.race([loaded.promise, import('./style/highlight.ts').catch(() => {})])
  return lazy
}
