import type { Span } from './span.ts'
import type { Target } from './target.ts'
import { fetchMessage } from '../base/error-message.ts'
import { otlpBody } from './otlp.ts'

/** No turn waits longer for a collector. */
const longestMs = 3_000

/** Sends spans, or none, to see whether somebody is there; the words say why it could not. */
export async function send(target: Target, version: string, spans: readonly Span[]): Promise<string | undefined> {
  try {
    const answer = await fetch(target.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...target.headers },
      body: otlpBody(target.service, version, spans),
      signal: AbortSignal.timeout(longestMs),
    })
    await answer.body?.cancel()
    return answer.ok ? undefined : `${new URL(target.url).host} answered ${answer.status}`
  } catch (error) {
    return fetchMessage(error)
  }
}
