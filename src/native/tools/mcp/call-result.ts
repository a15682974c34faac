import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { Blobs, Ref } from '../../../core/talk/store.ts'
import type { ToolOutput } from '../../../core/work/tool.ts'
import { cutMiddle } from '../../../core/talk/body.ts'
import { defined } from '../../../base/defined.ts'

/** A longer text is cut for the model, with the path of the whole text. */
const longestText = 40 * 1024

/**
 * Turns a result into one text, with its structured data next to it and all other content as files. If the tool reports an error, throws
 * its text.
 */
export async function outputOf(result: CallToolResult, blobs: Blobs): Promise<ToolOutput> {
  const files: Ref[] = []
  const parts: string[] = []
  for (const block of result.content ?? []) parts.push(await blockText(block, files, blobs))
  const data = result.structuredContent
  // Servers repeat their structured data as text for older clients; the model needs it only once.
  if (data !== undefined && !parts.some((part) => isJson(part))) parts.push(JSON.stringify(data, null, 2))
  const text = await short(parts.filter(Boolean).join('\n\n') || '(The tool returned nothing.)', blobs)
  if (result.isError) throw new Error(text)
  if (data === undefined && files.length === 0) return text
  // The structured data is nested under `structured`, so that a server's data cannot pass for data of our own tools.
  return defined({
    text,
    data: data === undefined ? undefined : { structured: data },
    files: files.length > 0 ? files : undefined,
  })
}

async function blockText(block: ContentBlock, files: Ref[], blobs: Blobs): Promise<string> {
  const keep = async (kind: string, base64: string, media: string) => {
    const body = Buffer.from(base64, 'base64')
    const ref = await blobs.put(body, media)
    files.push(ref)
    const place = blobs.place(ref)
    return `[${kind}: ${media}, ${sizeOf(body.length)}${place ? `, in ${place}` : ''}]`
  }
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return keep(block.type, block.data, block.mimeType)
    case 'resource_link':
      return `[${block.title ?? block.name}: ${block.uri}${block.description ? `, ${block.description}` : ''}]`
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return `[${resource.uri}]\n${resource.text}`
      return keep(resource.uri, resource.blob, resource.mimeType ?? 'application/octet-stream')
    }
    default:
      return `[${(block as { type: string }).type}: not shown]`
  }
}

async function short(text: string, blobs: Blobs): Promise<string> {
  if (text.length <= longestText) return text
  return cutMiddle(text, blobs.place(await blobs.put(text, 'text/plain')))
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

const sizeOf = (bytes: number) => (bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 102.4) / 10} KB`)
