import type { Plugin } from 'rolldown'
import { join } from 'node:path'

/** What the library makes when it is loaded, and what is imported from our own file in its place. */
const costly = [
  'const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });',
  'const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });',
  'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;',
]

/**
 * Gives the library of the chat's screen our own `graphemes.ts`, which does the same and makes nothing before it is needed, so
 * that the chat appears sooner. A version of the library that is written otherwise ends the build.
 */
export function chatLibrary(root: string): Plugin {
  const own = join(root, 'src', 'chat', 'style', 'graphemes.ts')
  return {
    name: 'chat-library',
    transform: {
      filter: { id: /pi-tui[\\/]dist[\\/]utils\.js$/ },
      handler(code, id) {
        const text = costly.reduce((rest, line) => {
          if (rest.split(line).length !== 2)
            throw new Error(`${id} does not hold this line once; change scripts/chat-library.ts: ${line}`)
          return rest.replace(line, () => '')
        }, code)
        return `import { graphemeSegmenter, wordSegmenter, rgiEmojiRegex } from ${JSON.stringify(own)}\n${text}`
      },
    },
  }
}
