import { z } from 'zod';
import { sendEvents, sendJson, textOf, type Format } from './format.ts';

const part = z.looseObject({
  functionCall: z.looseObject({ name: z.string() }).optional(),
  functionResponse: z.looseObject({ response: z.unknown().optional() }).optional(),
});
const declaration = z.looseObject({
  name: z.string(),
  description: z.string().default(''),
  parameters: z.unknown().optional(),
  parametersJsonSchema: z.unknown().optional(),
});
const request = z.looseObject({
  tools: z.array(z.looseObject({ functionDeclarations: z.array(declaration).default([]) })).default([]),
  contents: z.array(z.looseObject({ parts: z.array(part).default([]) })).default([]),
});

/** Gemini's generateContent. */
export const gemini: Format = {
  path: /:(stream)?generateContent$/i,
  read(body, path) {
    const { tools, contents } = request.parse(body);
    const parts = contents.flatMap((content) => content.parts);
    return {
      stream: path.includes(':stream'),
      tools: tools
        .flatMap(({ functionDeclarations }) => functionDeclarations)
        .map(({ name, description, parameters, parametersJsonSchema }) => ({
          name,
          description,
          schema: parametersJsonSchema ?? parameters,
        })),
      calls: parts.flatMap(({ functionCall }) => functionCall?.name ?? []),
      // Media and long texts stand beside the response, in parts of their own.
      results: parts.some(({ functionResponse }) => functionResponse !== undefined) ? [textOf(contents)] : [],
    };
  },
  write(response, answer, { id, stream }) {
    const said =
      'call' in answer
        ? { functionCall: { name: answer.call.tool.name, args: answer.call.input } }
        : { text: answer.text };
    const usageMetadata = { promptTokenCount: 500, candidatesTokenCount: 50, totalTokenCount: 550 };
    const candidates = [{ index: 0, content: { role: 'model', parts: [said] }, finishReason: 'STOP' }];
    const whole = { candidates, usageMetadata, modelVersion: 'scripted', responseId: id };
    if (stream) sendEvents(response, [whole]);
    else sendJson(response, whole);
  },
};
