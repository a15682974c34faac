import type { Tool, ToolOutput } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import type { WebAnswer } from './shared/web-request.ts'
import { pictureMedia, sizeText } from '../../base/picture.ts'
import { defineTool } from './shared/tool-definition.ts'
import { parser, string } from '../../core/data/shape.ts'
import { CommandOutput } from './shell/command-output.ts'

const mostRedirects = 5

const input = parser({ url: string({ min: 1 }) })

type FetchParts = Pick<ToolParts, 'clock' | 'web' | 'blobs' | 'mask' | 'env'>

export function webFetch(parts: FetchParts): Tool {
  return defineTool({
    name: 'web_fetch',
    risk: 'run',
    onDemand: 'always',
    input,
    aliases: { rules: ['WebFetch'], hooks: ['WebFetch'] },
    coversShell: 'network',
    effect: ({ url }) => ({ does: 'fetch', url }),
    async run({ url }, { signal }) {
      const { networkFetch, withTimeLimit } = await import('./shared/web-request.ts')
      const ask = parts.web?.fetch ?? networkFetch(parts.env)
      let at = addressOf(url)
      for (let hop = 0; hop <= mostRedirects; hop++) {
        const allowed = parts.web?.allowed?.includes(at.host) ?? false
        const answer = await withTimeLimit(at.host, signal, parts.clock, (until) =>
          ask({ url: at, private: allowed, signal: until, headers: { accept: 'text/html, text/*, */*;q=0.5' } }),
        )
        const next = redirectOf(answer, at)
        if (!next) return fetchOutput(answer, at, parts)
        // The person or a rule allowed the first host only; another host needs another decision.
        if (next.host !== at.host) return `${at.href} redirects to ${next.href}. Fetch that if you need it.`
        at = next
      }
      throw new Error(`${url} redirects too often. Try another address.`)
    },
  })
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error(`${text} is not a web address: send one that begins with https:// or http://.`)
  if (url.username || url.password) throw new Error('send the address without a name and a password in it.')
  return url
}

function redirectOf({ status, headers }: WebAnswer, from: URL): URL | undefined {
  const to = headers.location
  if (status < 300 || status > 399 || !to) return undefined
  if (!URL.canParse(to, from)) throw new Error(`${from.href} redirects to ${to}, which is not a web address.`)
  return addressOf(new URL(to, from).href)
}

async function fetchOutput({ status, headers, body, cut }: WebAnswer, at: URL, parts: FetchParts): Promise<ToolOutput> {
  if (status >= 400) throw new Error(`${at.href} answered ${status}. Check the address, or look for another source.`)
  const media = (headers['content-type'] ?? 'text/plain').toLowerCase()
  const picture = pictureMedia(body)
  if (picture && !cut) {
    const ref = await parts.blobs.put(body, picture)
    return { text: `A picture (${picture}, ${sizeText(body.length)}); it is attached.`, files: [ref] }
  }
  if (!/^text\/|json|xml|javascript|yaml/.test(media))
    return `${at.href} is ${media}, ${sizeText(body.length)}, which is not text. Download it with bash if you need it.`
  const text = decodeBody(body, media)
  const printed = new CommandOutput(parts)
  const page = /html/.test(media) ? (await import('./web/readable-page.ts')).readable(text, at) : text
  await printed.add(Buffer.from(page))
  const note = cut ? '\n[The page is longer than this; the rest was not fetched.]' : ''
  return (await printed.done()).trim() + note || '[the page has no text]'
}

function decodeBody(body: Buffer, media: string): string {
  const named = /charset=["']?([\w-]+)/.exec(media)?.[1]
  const meta = /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(body.subarray(0, 2048).toString('latin1'))?.[1]
  try {
    return new TextDecoder(named ?? meta ?? 'utf-8').decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}
