import type { Ask } from '../../core/talk/question.ts'

/** What a person wants of an agent that says nothing; undefined when nobody answered. */
export async function askSilence(
  agent: string,
  long: string,
  ask: Ask,
  withdrawn: AbortSignal,
): Promise<'wait' | 'switch' | 'stop' | undefined> {
  const picks = await ask(
    {
      about: 'silence',
      text: `${agent} has said nothing for ${long}, no tool of it is at work, and no file has changed.`,
      from: [],
      agent,
      options: [
        { id: 'wait', label: `Wait another ${long}` },
        { id: 'switch', label: 'End it and go on with the next agent' },
        { id: 'stop', label: 'Stop the turn' },
      ],
    },
    withdrawn,
  )
  return (['wait', 'switch', 'stop'] as const).find((wish) => picks?.includes(wish))
}
