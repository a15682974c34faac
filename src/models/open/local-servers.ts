import type { Clock } from '../../base/time/clock.ts'
import type { Send } from '../http/http-client.ts'
import type { ProviderName } from '../provider.ts'
import { callAfter } from '../../base/time/clock.ts'
import { send } from '../http/http-client.ts'
import { modelsIn } from './model-list.ts'
import { providerOf } from '../provider.ts'
import { root } from '../wires/ollama.ts'

type LocalModel = { id: string; window?: number }
export type LocalServer = { provider: ProviderName; label: string; baseURL: string; models: LocalModel[] }

/** How long a server on this machine may take to answer. */
const bound = 300

/** Finds the model servers that answer on this machine now, with their models. */
export async function localServers(clock: Clock, fetch: Send = send): Promise<LocalServer[]> {
  const over = new AbortController()
  const enough = new AbortController()
  callAfter(clock, bound, enough.signal, () => over.abort())
  const get = async (url: string): Promise<any> => {
    try {
      const response = await fetch(url, { signal: over.signal })
      return response.ok ? await response.json() : undefined
    } catch {
      return undefined
    }
  }
  const found = await Promise.all([ollama(get), lmstudio(get), llamacpp(get)])
  enough.abort()
  return found.filter((server) => server !== undefined)
}

type Get = (url: string) => Promise<any>

async function ollama(get: Get): Promise<LocalServer | undefined> {
  const base = baseOf('ollama')
  return server('ollama', modelsIn(await get(`${root(base)}/api/tags`)))
}

/** LM Studio's own list contains the context of each model; the OpenAI-compatible list is used if its own is missing. */
async function lmstudio(get: Get): Promise<LocalServer | undefined> {
  const base = baseOf('lmstudio')
  const [own, compatible] = await Promise.all([get(`${root(base)}/api/v0/models`), get(`${base}/models`)])
  return server('lmstudio', modelsIn(own) ?? modelsIn(compatible))
}

/** Many programs listen on port 8080: only a server that identifies itself as llama.cpp counts. */
async function llamacpp(get: Get): Promise<LocalServer | undefined> {
  const base = baseOf('llamacpp')
  const [models, props] = await Promise.all([get(`${base}/models`), get(`${root(base)}/props`)])
  const own = models?.data?.filter?.((one: any) => one?.owned_by === 'llamacpp')
  const window = props?.default_generation_settings?.n_ctx
  const list = own?.length > 0 ? modelsIn({ data: own }) : undefined
  return server(
    'llamacpp',
    list?.map((model) => (typeof window === 'number' ? { ...model, window } : model)),
  )
}

const baseOf = (provider: ProviderName) => providerOf(provider).base!

function server(provider: ProviderName, models: LocalModel[] | undefined): LocalServer | undefined {
  return models && { provider, label: providerOf(provider).label, baseURL: baseOf(provider), models }
}
