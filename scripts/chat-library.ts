import type { Plugin } from 'esbuild'
import { readFileSync } from 'node:fs'
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
  const own = join(root, 'src', 'faces', 'chat', 'screen', 'graphemes.ts')
  return {
    name: 'chat-library',
    setup({ onLoad }) {
      onLoad({ filter: /pi-tui[\\/]dist[\\/]utils\.js$/ }, ({ path }) => {
        const text = costly.reduce(
          (rest, line) => {
            if (rest.split(line).length !== 2)
              throw new Error(`${path} does not hold this line once; change scripts/chat-library.ts: ${line}`)
            return rest.replace(line, () => '')
          },
          readFileSync(path, 'utf8'),
        )
        const names = 'graphemeSegmenter, wordSegmenter, rgiEmojiRegex'
        return { contents: `import { ${names} } from ${JSON.stringify(own)}\n${text}` }
      })
    },
  }
}
