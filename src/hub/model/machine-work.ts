import type { CallerRole } from './access/hub-key.ts'
import type { Parser } from '../../core/data/shape.ts'

/**
 * The person or agent for whom a hub asks a machine to do something. The hub has checked the key; the machine decides itself whether to
 * allow it.
 */
export type Asker = { name: string; role: CallerRole }

/**
 * One kind of work that a machine can do for the hub, such as a merge. Both sides use the same description: the hub checks the output,
 * and the machine checks the input. Both are JSON of at most `mostWorkBytes`.
 */
export type WorkKind<Input, Output> = {
  /** Lowercase letters, digits, dots and hyphens, for example "merge" or "branch.bundle". */
  name: string
  input: Parser<Input>
  output: Parser<Output>
  /** How long the work may take before both sides give up; at most `longestWorkMs`. */
  mostMs: number
}

/** The largest input and the largest output of such work, as JSON. Larger data goes through the hub's own uploads. */
export const mostWorkBytes = 512 * 1024

/** The longest time that such work may take. */
export const longestWorkMs = 15 * 60_000

/** The most requests for work that one machine handles at once; it refuses more. */
export const mostWorkAtOnce = 8

/** `signal` aborts when the time is over, when the hub no longer wants the work, or when the connection is cut. */
export type WorkContext = { by: Asker; signal: AbortSignal }

/** The kinds of work that one machine offers. Only the machine itself registers them: a hub cannot ask for anything else. */
export interface MachineWork {
  /** Throws if the name is taken or not a valid name. An error that `run` throws reaches the hub with its own message. */
  register<Input, Output>(
    kind: WorkKind<Input, Output>,
    run: (input: Input, context: WorkContext) => Promise<Output>,
  ): void
  /** The names of all registered work, in alphabetical order. */
  names(): string[]
  /** Does the work for a request from outside; rejects with WorkRefused. */
  run(name: string, input: unknown, context: WorkContext): Promise<unknown>
}

/** All machines that a hub can reach, its own among them. */
export interface MachinesAtWork {
  /** The machines that can do work of this kind now, in alphabetical order. */
  withWork(name: string): Promise<string[]>
  /** Asks one machine to do work. Rejects with MachineAway, WorkRefused, or the error of the signal. */
  ask<Input, Output>(
    machine: string,
    kind: WorkKind<Input, Output>,
    input: Input,
    options: { by: Asker; signal?: AbortSignal },
  ): Promise<Output>
}

/** A machine is not linked to any hub, or its connection broke during a request; then it is unknown whether the work was done. */
export class MachineAway extends Error {
  override name = 'MachineAway'
  readonly machine: string
  /** When the machine was last seen, in ms since 1970; undefined for a machine that was never linked. */
  readonly since: number | undefined

  constructor(machine: string, message: string, since?: number) {
    super(message)
    this.machine = machine
    this.since = since
  }
}

/** A machine refused a request, or could not do the work. The message is for the person who asked. */
export class WorkRefused extends Error {
  override name = 'WorkRefused'
}
