import type { CallerRole } from './access/hub-key.ts'
import type { Parser } from '../../core/data/shape.ts'

/**
 * The person or agent in whose name a hub asks a machine for something. The hub has checked the key; the machine decides for itself what it
 * allows.
 */
export type Asker = { name: string; role: CallerRole }

/**
 * One kind of work that a machine can carry out for the hub, such as a merge. Both sides read the same description: the hub checks the
 * output, and the machine checks the input. Both are JSON of at most `mostWorkBytes`.
 */
export type WorkKind<Input, Output> = {
  /** Small letters, digits, dots and hyphens, as in "merge" or "branch.bundle". */
  name: string
  input: Parser<Input>
  output: Parser<Output>
  /** How long the work may take before both sides give it up; at most `longestWorkMs`. */
  mostMs: number
}

/** The largest input and the largest output of a piece of work, as JSON. Larger things go through the hub's own uploads. */
export const mostWorkBytes = 512 * 1024

/** The longest that one piece of work may take. */
export const longestWorkMs = 15 * 60_000

/** The most pieces of work that one machine does at once; it refuses more. */
export const mostWorkAtOnce = 8

/** `signal` aborts when the time is over, when the hub no longer wants the work, or when the connection is cut. */
export type WorkContext = { by: Asker; signal: AbortSignal }

/** The work of one machine, registered by that machine alone: a hub cannot ask for anything else. */
export interface MachineWork {
  /** Throws if the name is taken or not a valid name. An error that `run` throws reaches the asking side with its own message. */
  register<Input, Output>(
    kind: WorkKind<Input, Output>,
    run: (input: Input, context: WorkContext) => Promise<Output>,
  ): void
  /** The names of all registered work, in alphabetical order. */
  names(): string[]
  /** Carries out one request as it came from outside; rejects with WorkRefused. */
  run(name: string, input: unknown, context: WorkContext): Promise<unknown>
}

/** All machines that a hub can reach, its own among them. */
export interface MachinesAtWork {
  /** The machines that can do work of this kind now, in alphabetical order. */
  withWork(name: string): Promise<string[]>
  /** Asks one machine. Rejects with MachineAway, WorkRefused, or the error of the signal. */
  ask<Input, Output>(
    machine: string,
    kind: WorkKind<Input, Output>,
    input: Input,
    options: { by: Asker; signal?: AbortSignal },
  ): Promise<Output>
}

/** A machine is not linked to any hub, or its connection broke during a request. Whether the work was done is unknown then. */
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

/** A machine refused a request, or could not carry it out. The message is for the person who asked. */
export class WorkRefused extends Error {
  override name = 'WorkRefused'
}
