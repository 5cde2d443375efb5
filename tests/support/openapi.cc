#include "tests/support/openapi.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace support {
namespace {

using api::JsonObject;
using api::JsonValue;

std::string Text(const JsonValue* value) {
  return value != nullptr && value->is_string()
             ? std::string(value->get_string().data(), value->get_string().size())
             : "";
}

std::string Member(const JsonObject& object, std::string_view name) {
  return Text(object.if_contains(name));
}

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> Segments(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    segments.emplace_back(path.substr(0, path.find('/')));
    path.remove_prefix(segments.back().size());
  }
  if (!segments.empty() && segments.back().empty()) {
    segments.pop_back();
  }
  return segments;
}

bool IsVariable(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

// How many segments are literal when the path fits the pattern; -1 when it does not.
int Fit(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) {
    return -1;
  }
  int literal = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (pattern[i] == path[i]) {
      ++literal;
    } else if (!IsVariable(pattern[i]) || path[i].empty()) {
      return -1;
    }
  }
  return literal;
}

// One look at a whole document.
class DocumentCheck {
 public:
  DocumentCheck(const JsonObject& document, const JsonSchema& schemas)
      : document_(document), schemas_(schemas) {}

  std::vector<std::string> Run() {
    Expect(Matches("^3\\.0\\.[0-9]+$", Member(document_, "openapi")), "its version is not 3.0");
    const JsonValue* info = document_.if_contains("info");
    Expect(info != nullptr && !Member(info->as_object(), "title").empty() &&
               !Member(info->as_object(), "version").empty(),
           "info lacks title or version");
    CheckRefs(document_, "");
    CheckComponents();
    CheckPaths();
    return std::move(wrongs_);
  }

 private:
  void Expect(bool holds, const std::string& what) {
    if (!holds) {
      wrongs_.push_back(what);
    }
  }

  void CheckRefs(const JsonValue& value, const std::string& at) {
    if (value.is_object()) {
      const JsonValue* ref = value.get_object().if_contains("$ref");
      if (ref != nullptr) {
        Expect(ref->is_string() && schemas_.Find(Text(ref)) != nullptr,
               at + ": $ref leads nowhere: " + Text(ref));
        Expect(value.get_object().size() == 1, at + ": $ref is not alone");
        used_.insert(Text(ref));
      }
      for (const auto& [name, member] : value.get_object()) {
        CheckRefs(member, at + "/" + std::string(name));
      }
    } else if (value.is_array()) {
      for (const JsonValue& item : value.get_array()) {
        CheckRefs(item, at + "/-");
      }
    }
  }

  void CheckComponents() {
    for (const auto& [section, components] : document_.at("components").as_object()) {
      for (const auto& [name, component] : components.as_object()) {
        const std::string at = std::string(section) + "/" + std::string(name);
        Expect(Matches("^[a-zA-Z0-9._-]+$", std::string(name)), at + ": is no name");
        Expect(section == "securitySchemes" || used_.contains("#/components/" + at),
               at + ": nothing uses it");
        if (section == "schemas") {
          Add(at, schemas_.CheckSchema(component));
        } else if (section == "responses") {
          CheckResponse(component.as_object(), at);
        } else if (section == "headers") {
          CheckSchemaOf(component.as_object(), at);
        }
      }
    }
  }

  void Add(const std::string& at, const std::vector<std::string>& wrongs) {
    for (const std::string& wrong : wrongs) {
      wrongs_.push_back(at + ": " + wrong);
    }
  }

  void CheckSchemaOf(const JsonObject& holder, const std::string& at) {
    const JsonValue* schema = holder.if_contains("schema");
    Expect(schema != nullptr, at + ": has no schema");
    if (schema != nullptr) {
      Add(at, schemas_.CheckSchema(*schema));
    }
  }

  void CheckContent(const JsonObject& holder, const std::string& at) {
    const JsonValue* content = holder.if_contains("content");
    if (content == nullptr) {
      return;
    }
    Expect(!content->as_object().empty(), at + ": has content of no type");
    for (const auto& [type, media] : content->as_object()) {
      CheckSchemaOf(media.as_object(), at + " " + std::string(type));
    }
  }

  void CheckResponse(const JsonObject& response, const std::string& at) {
    Expect(!Member(response, "description").empty(), at + ": has no description");
    CheckContent(response, at);
    if (const JsonValue* headers = response.if_contains("headers")) {
      for (const auto& [name, header] : headers->as_object()) {
        const JsonValue* resolved = schemas_.Resolve(header);
        Expect(resolved != nullptr && resolved->as_object().contains("schema"),
               at + ": the header " + std::string(name) + " is not described");
      }
    }
  }

  void CheckPaths() {
    std::set<std::string> shapes;
    for (const auto& [path, item] : document_.at("paths").as_object()) {
      std::string shape;
      for (const std::string& segment : Segments(path)) {
        shape += IsVariable(segment) ? "/{}" : "/" + segment;
      }
      Expect(path.starts_with('/') && shapes.insert(shape).second,
             std::string(path) + ": is no path or comes twice");
      for (const auto& [method, operation] : item.as_object()) {
        static const std::set<std::string> kMethods = {"get",  "put",     "post",  "delete",
                                                       "head", "options", "patch", "trace"};
        const std::string at = Upper(std::string(method)) + " " + std::string(path);
        Expect(kMethods.contains(std::string(method)), at + ": is no method");
        CheckOperation(operation.as_object(), std::string(path), at);
      }
    }
  }

  void CheckOperation(const JsonObject& operation, const std::string& path, const std::string& at) {
    const std::string id = Member(operation, "operationId");
    Expect(!id.empty() && ids_.insert(id).second, at + ": its operationId is missing or taken");
    CheckParameters(operation, path, at);
    CheckTags(operation, at);
    if (const JsonValue* body = operation.if_contains("requestBody")) {
      Expect(body->as_object().contains("content"), at + ": its body has no content");
      CheckContent(body->as_object(), at);
    }
    const JsonValue* responses = operation.if_contains("responses");
    Expect(responses != nullptr && !responses->as_object().empty(), at + ": has no responses");
    for (const auto& [status, response] : responses->as_object()) {
      const std::string place = at + " " + std::string(status);
      Expect(status == "default" || Matches("^[1-5][0-9]{2}$", std::string(status)),
             place + ": is no status");
      if (const JsonValue* resolved = schemas_.Resolve(response)) {
        CheckResponse(resolved->as_object(), place);
      }
    }
  }

  void CheckTags(const JsonObject& operation, const std::string& at) {
    for (const JsonValue& tag : operation.at("tags").as_array()) {
      const bool is_known =
          std::ranges::any_of(document_.at("tags").as_array(), [&tag](const JsonValue& known) {
            return Member(known.as_object(), "name") == Text(&tag);
          });
      Expect(is_known, at + ": its tag is not declared");
    }
    if (const JsonValue* security = operation.if_contains("security")) {
      Expect(security->is_array(), at + ": its security is no list");
    }
  }

  void CheckParameters(const JsonObject& operation, const std::string& path,
                       const std::string& at) {
    std::set<std::string> in_path;
    std::set<std::string> seen;
    for (const JsonValue& unresolved : operation.at("parameters").as_array()) {
      const JsonValue* resolved = schemas_.Resolve(unresolved);
      if (resolved == nullptr) {
        continue;  // Told already.
      }
      const JsonObject& parameter = resolved->as_object();
      const std::string name = Member(parameter, "name");
      const std::string in = Member(parameter, "in");
      Expect(!name.empty() && seen.insert(in + " " + name).second,
             at + ": a parameter has no name or comes twice");
      Expect(in == "query" || in == "header" || in == "path", at + ": " + name + " is nowhere");
      CheckSchemaOf(parameter, at + " " + name);
      if (in == "path") {
        in_path.insert("{" + name + "}");
        Expect(parameter.contains("required") && parameter.at("required").as_bool(),
               at + ": " + name + " is not required");
      }
    }
    std::set<std::string> variables;
    for (const std::string& segment : Segments(path)) {
      if (IsVariable(segment)) {
        Expect(variables.insert(segment).second, at + ": has two variables of one name");
      }
    }
    Expect(variables == in_path, at + ": variables and parameters differ");
  }

  const JsonObject& document_;
  const JsonSchema& schemas_;
  std::set<std::string> used_;
  std::set<std::string> ids_;
  std::vector<std::string> wrongs_;
};

}  // namespace

std::vector<std::string> OpenApi::CheckDocument() const {
  if (!document_.is_object()) {
    return {"is no object"};
  }
  return DocumentCheck(document_.get_object(), schemas_).Run();
}

std::vector<std::string> OpenApi::Operations() const {
  std::vector<std::string> operations;
  for (const auto& [path, item] : document_.at("paths").as_object()) {
    for (const auto& [method, operation] : item.as_object()) {
      operations.push_back(Upper(std::string(method)) + " " + std::string(path));
    }
  }
  std::ranges::sort(operations);
  return operations;
}

OpenApi::Found OpenApi::Find(const std::string& method, const std::string& path) const {
  const std::vector<std::string> segments = Segments(path);
  const JsonObject* best = nullptr;
  int best_fit = -1;
  for (const auto& [pattern, item] : document_.at("paths").as_object()) {
    const int fit = Fit(Segments(pattern), segments);
    if (fit > best_fit) {
      best_fit = fit;
      best = &item.as_object();
    }
  }
  if (best == nullptr) {
    return {};
  }
  const JsonValue* operation = best->if_contains(Lower(method == "HEAD" ? "GET" : method));
  return {true, operation == nullptr ? nullptr : &operation->as_object()};
}

std::vector<std::string> OpenApi::CheckAnswer(const SeenAnswer& answer) const {
  const Found found = Find(answer.method, answer.path);
  if (found.operation == nullptr) {
    const int expected = found.has_path ? 405 : 404;
    if (answer.status == expected || answer.status == 501 || answer.status == 400) {
      return {};
    }
    return {"is not documented, yet answered"};
  }
  const JsonObject& responses = found.operation->at("responses").as_object();
  const JsonValue* unresolved = responses.if_contains(std::to_string(answer.status));
  if (unresolved == nullptr && answer.status >= 500) {
    unresolved = responses.if_contains("default");
  }
  if (unresolved == nullptr) {
    return {"the status is not documented"};
  }
  const JsonObject& response = schemas_.Resolve(*unresolved)->as_object();
  std::vector<std::string> wrongs;
  if (const JsonValue* headers = response.if_contains("headers")) {
    for (const auto& [name, header] : headers->as_object()) {
      const JsonValue& described = *schemas_.Resolve(header);
      const bool is_required = described.as_object().at("required").as_bool();
      if (is_required && !answer.headers.contains(Lower(std::string(name)))) {
        wrongs.push_back("the header " + std::string(name) + " is missing");
      }
    }
  }
  const JsonValue* content = response.if_contains("content");
  if (answer.method == "HEAD" || content == nullptr) {
    if (!answer.body.empty() && content == nullptr) {
      wrongs.emplace_back("has a body");
    }
    return wrongs;
  }
  const auto type = answer.headers.find("content-type");
  const std::string media(
      type == answer.headers.end() ? "" : type->second.substr(0, type->second.find(';')));
  const JsonValue* described = content->as_object().if_contains(media);
  if (described == nullptr) {
    wrongs.push_back("the content type '" + media + "' is not documented");
    return wrongs;
  }
  if (media.find("json") != std::string::npos) {
    const api::JsonParse parsed = api::ParseJson(answer.body);
    if (!parsed.ok()) {
      wrongs.push_back("the body is no JSON: " + parsed.error.message);
      return wrongs;
    }
    std::ranges::copy(schemas_.Check(described->at("schema"), *parsed.value),
                      std::back_inserter(wrongs));
  }
  return wrongs;
}

}  // namespace support
