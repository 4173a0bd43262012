// Has a validator of others read an OpenAPI document.
import { Validator } from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const { valid, errors } = await validator.validate(process.argv[2]);
if (!valid) {
  console.error(JSON.stringify(errors, null, 2));
  process.exit(1);
}
console.log(`OpenAPI ${validator.version}: ${Object.keys(validator.specification.paths).length} paths`);
