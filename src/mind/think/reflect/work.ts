import type { Course } from '../course.ts'

/** What was made so far: the reply, and what changed where that can be seen. */
export type Work = { task: string; reply: string; patch?: string; files?: readonly string[] }

export async function workOf(reply: string, mark: string | undefined, { turn, minds }: Course): Promise<Work> {
  const changes = mark === undefined ? undefined : await minds.rewind!.since(mark).catch(() => undefined)
  return { task: turn.prompt, reply, ...changes }
}
