import type { ContentBlock } from '@agentclientprotocol/sdk'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attribute, tag } from '../../core/talk/transcript.ts'

/** A prompt in blocks as the text that every agent takes: a linked file is a mention, an enclosed one stands behind it. */
export function promptOf(blocks: readonly ContentBlock[], cwd: string): string {
  const said = blocks.map((block) => sentence(block, cwd)).join('')
  const enclosed = blocks.flatMap((block) => {
    if (block.type !== 'resource' || !('text' in block.resource)) return []
    return [tag('file', ` path="${attribute(nameOf(block.resource.uri, cwd))}"`, block.resource.text)]
  })
  return [said, ...enclosed].filter((part) => part.trim() !== '').join('\n\n')
}

function sentence(block: ContentBlock, cwd: string): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return isFile(block.uri) ? `@"${nameOf(block.uri, cwd)}"` : block.uri
    case 'resource':
      return nameOf(block.resource.uri, cwd)
    default:
      // Said not to be taken: a client that sends it anyway is told by what the agent does not see.
      return `[${block.type}]`
  }
}

const isFile = (uri: string) => uri.startsWith('file://')

/** As an agent that stands in the folder would call it. */
function nameOf(uri: string, cwd: string): string {
  if (!isFile(uri)) return uri
  const [, range = ''] = /#(L\d+(?:[:-]L?\d+)?)$/.exec(uri) ?? []
  const path = fileURLToPath(uri.replace(/#.*$/, ''))
  const way = relative(cwd, path)
  return `${way === '' || way.startsWith('..') ? path : way}${range && `#${range.replace(':', '-')}`}`
}
