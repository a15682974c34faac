import type { Tool } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import type { WebAnswer } from './shared/web-request.ts'
import type { Hit, Provider } from './web/search-providers.ts'
import { defineTool } from './shared/tool-definition.ts'
import { parser, string } from '../../core/data/shape.ts'

const longestText = 500

const input = parser({ query: string({ min: 1 }) })

export function webSearch(parts: Pick<ToolParts, 'env' | 'clock' | 'web'>): Tool {
  return defineTool({
    name: 'web_search',
    risk: 'read',
    onDemand: 'with a shell',
    input,
    aliases: { rules: ['WebSearch'], hooks: ['WebSearch'] },
    effect: () => ({ does: 'nothing' }),
    async run({ query }, { signal }) {
      const [{ networkFetch, withTimeLimit }, { howToSetUp, providerFor }] = await Promise.all([
        import('./shared/web-request.ts'),
        import('./web/search-providers.ts'),
      ])
      const provider = providerFor(query, parts)
      if (!provider) throw new Error(howToSetUp)
      const ask = parts.web?.fetch ?? networkFetch(parts.env)
      const answer = await withTimeLimit(provider.name, signal, parts.clock, (until) =>
        ask({ ...provider.request, signal: until }),
      )
      const hits = hitsOf(answer, provider)
      if (hits.length === 0) return `Nothing was found for ${query}. Try other words.`
      return hits.map(hitText).join('\n\n')
    },
  })
}

function hitText({ title, url, text }: Hit, i: number): string {
  const short = text.length > longestText ? `${text.slice(0, longestText)}…` : text
  return [`${i + 1}. ${title}`, url, short].filter((part) => part !== '').join('\n')
}

function hitsOf({ status, body }: WebAnswer, { name, hits }: Provider): Hit[] {
  if (status === 401 || status === 403)
    throw new Error(`${name} refused the key (${status}): the person has to set a valid one. Go on without searching.`)
  if (status === 429) throw new Error(`${name} has no searches left for now (429). Go on without searching.`)
  if (status !== 200) throw new Error(`${name} answered ${status}. Try again later, or go on without searching.`)
  try {
    return hits(JSON.parse(body.toString('utf8')))
  } catch {
    throw new Error(`${name} did not answer with a list of results. Go on without searching.`)
  }
}
