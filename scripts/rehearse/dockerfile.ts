import { requireTool } from './tools.ts';

/** An instruction of a Dockerfile with its words as they stand there, without flags. */
export type Instruction = {
  readonly name: string;
  readonly text: string;
  /** The stage that COPY takes from; undefined where it is the context. */
  readonly from: string | undefined;
};

/** A stage: what it begins with, its name if it has one, and its instructions in order. */
export type Stage = {
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
};

type ParsedInstruction = {
  getKeyword(): string;
  getArgumentsContent(): string | null;
  getFromFlag?(): { getValue(): string | null } | null;
};

type Parser = {
  DockerfileParser: {
    parse(text: string): {
      getInstructions(): ParsedInstruction[];
    };
  };
};

/** @throws Error when it does not begin with FROM */
export function readStages(text: string): Stage[] {
  const { DockerfileParser }: Parser = requireTool('dockerfile-ast');
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const name = instruction.getKeyword();
    const content = instruction.getArgumentsContent() ?? '';
    if (name === 'FROM') {
      const [base = '', , stage] = content.split(/\s+/);
      stages.push({ base, name: stage, instructions: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (stage === undefined) throw new Error(`${name} stands before the first FROM`);
    const from = instruction.getFromFlag?.()?.getValue() ?? undefined;
    stage.instructions.push({ name, text: content, from });
  }
  return stages;
}

/** The words of an instruction in the form of JSON, `["node", "main.js"]`. @throws Error when it has another form */
export function execForm({ name, text }: Pick<Instruction, 'name' | 'text'>): string[] {
  const words: unknown = JSON.parse(text.slice(text.indexOf('[')));
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
    throw new Error(`${name} ${text}: a shell would stand between`);
  return words;
}
