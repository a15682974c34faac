import type { ToolParts } from '../shared/tool-parts.ts'
import type { WebRequest } from '../shared/web-request.ts'

export type Hit = { title: string; url: string; text: string }

/** A web search service: its request, and the parser of its answer. */
export type Provider = {
  name: string
  request: Pick<WebRequest, 'url' | 'method' | 'headers' | 'body' | 'private'>
  hits(answer: unknown): Hit[]
}

const mostHits = 8

/** The first provider that is set up: the person's search server comes before an API key. */
export function providerFor(query: string, { env, web }: Pick<ToolParts, 'env' | 'web'>): Provider | undefined {
  const address = web?.search || env.SEARXNG_URL
  if (address) return searxng(query, address)
  if (env.TAVILY_API_KEY) return tavily(query, env.TAVILY_API_KEY)
  if (env.BRAVE_API_KEY) return brave(query, env.BRAVE_API_KEY)
  return undefined
}

export const howToSetUp =
  'Searching the web is not set up: the person can set TAVILY_API_KEY, BRAVE_API_KEY or SEARXNG_URL, or name a SearXNG server in the settings: "web": {"search": "<address>"}. Go on without it: use web_fetch if you know an address, or say what you could not look up.'

function searxng(query: string, address: string): Provider {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    throw new Error(
      `the address of the search server is not an http address: ${address}. The person has to correct it.`,
    )
  const url = new URL(address)
  if (!/\/search\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/search`
  url.searchParams.set('q', query)
  url.searchParams.set('format', 'json')
  return {
    name: `SearXNG at ${url.host}`,
    // The person configured this address, so it may be on a private network.
    request: { url, private: true },
    hits: (answer) => hitsIn((answer as { results?: unknown }).results, 'content'),
  }
}

function tavily(query: string, key: string): Provider {
  return {
    name: 'Tavily',
    request: {
      url: new URL('https://api.tavily.com/search'),
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: mostHits }),
      private: false,
    },
    hits: (answer) => hitsIn((answer as { results?: unknown }).results, 'content'),
  }
}

function brave(query: string, key: string): Provider {
  const url = new URL('https://api.search.brave.com/res/v1/web/search')
  url.searchParams.set('q', query)
  url.searchParams.set('count', `${mostHits}`)
  return {
    name: 'Brave',
    request: { url, headers: { 'x-subscription-token': key, accept: 'application/json' }, private: false },
    hits: (answer) => hitsIn((answer as { web?: { results?: unknown } }).web?.results, 'description'),
  }
}

function hitsIn(results: unknown, text: string): Hit[] {
  if (!Array.isArray(results)) return []
  return results.slice(0, mostHits).flatMap((one: Record<string, unknown> | null) => {
    if (typeof one?.url !== 'string') return []
    const said = (value: unknown) => (typeof value === 'string' ? value.replace(/<[^>]{1,40}>/g, '') : '')
    return [{ title: said(one.title), url: one.url, text: said(one[text]).replace(/\s+/g, ' ').trim() }]
  })
}
