#include "api/openapi/page.h"

#include <string_view>

#include <boost/json/serialize.hpp>

namespace api {
namespace {

constexpr std::string_view kHead =
    R"(<!doctype html><html lang="en"><head><meta charset="utf-8">)"
    R"(<meta name="viewport" content="width=device-width,initial-scale=1"><title>)";

constexpr std::string_view kStyle =
    "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;"
    "color:#1b1f24;background:#fff}h2{margin-top:2rem;border-bottom:1px solid #d0d7de}"
    "details{border:1px solid #d0d7de;border-radius:6px;margin:.4rem 0;padding:.3rem .7rem}"
    "summary{cursor:pointer}code,pre{font:13px/1.5 ui-monospace,monospace}"
    "pre{overflow:auto;background:#f6f8fa;padding:.6rem;border-radius:6px}"
    ".m{display:inline-block;min-width:4.2rem;font-weight:700}.s{color:#57606a}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;"
    "padding:.2rem .6rem .2rem 0;border-top:1px solid #eaeef2}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}"
    "pre{background:#161b22}details,h2,td,th{border-color:#30363d}.s{color:#8b949e}}</style>";

std::string_view View(const boost::json::string& text) {
  return {text.data(), text.size()};
}

// The text of a member; "" when it is something else.
std::string_view TextOf(const JsonObject& object, std::string_view key) {
  const JsonValue* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? View(value->get_string()) : std::string_view();
}

class Page {
 public:
  explicit Page(const JsonObject& document) : document_(document) {}

  std::string Write() {
    const JsonObject& info = document_.at("info").as_object();
    out_ += kHead;
    Escaped(TextOf(info, "title"));
    out_ += "</title>";
    out_ += kStyle;
    out_ += "</head><body><h1>";
    Escaped(TextOf(info, "title"));
    out_ += " <span class=\"s\">";
    Escaped(TextOf(info, "version"));
    out_ += "</span></h1><p>";
    Escaped(TextOf(info, "description"));
    out_ += "</p><p>The same for programs: <a href=\"openapi\">openapi</a>.</p>";
    for (const JsonValue& tag : document_.at("tags").as_array()) {
      WriteTag(TextOf(tag.as_object(), "name"));
    }
    WriteSchemas();
    out_ += "</body></html>\n";
    return std::move(out_);
  }

 private:
  void Escaped(std::string_view text) {
    for (const char c : text) {
      switch (c) {
        case '&':
          out_ += "&amp;";
          break;
        case '<':
          out_ += "&lt;";
          break;
        case '>':
          out_ += "&gt;";
          break;
        case '"':
          out_ += "&quot;";
          break;
        default:
          out_ += c;
      }
    }
  }

  void Code(std::string_view text) {
    out_ += "<code>";
    Escaped(text);
    out_ += "</code>";
  }

  // What a `$ref` points at; the object itself when it has none.
  const JsonObject& Resolved(const JsonObject& object) const {
    std::string_view path = TextOf(object, "$ref");
    if (path.empty()) {
      return object;  // NOLINT(bugprone-return-const-ref-from-parameter): part of document_.
    }
    path.remove_prefix(std::string_view("#/components/").size());
    const std::size_t slash = path.find('/');
    return document_.at("components")
        .at(path.substr(0, slash))
        .at(path.substr(slash + 1))
        .as_object();
  }

  void WriteTag(std::string_view tag) {
    out_ += "<h2>";
    Escaped(tag);
    out_ += "</h2>";
    for (const auto& [path, item] : document_.at("paths").as_object()) {
      for (const auto& [method, operation] : item.as_object()) {
        const JsonObject& shown = operation.as_object();
        if (View(shown.at("tags").as_array().front().as_string()) == tag) {
          WriteOperation(method, path, shown);
        }
      }
    }
  }

  void WriteOperation(std::string_view method, std::string_view path, const JsonObject& operation) {
    out_ += "<details><summary><span class=\"m\">";
    for (const char c : method) {
      out_ += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    out_ += "</span>";
    Code(path);
    out_ += " <span class=\"s\">";
    Escaped(TextOf(operation, "summary"));
    out_ += "</span></summary><table>";
    for (const JsonValue& parameter : operation.at("parameters").as_array()) {
      WriteParameter(Resolved(parameter.as_object()));
    }
    if (const JsonValue* body = operation.if_contains("requestBody")) {
      out_ += "<tr><td>body</td><td>";
      WriteContent(body->as_object());
      out_ += "</td></tr>";
    }
    for (const auto& [status, response] : operation.at("responses").as_object()) {
      WriteResponse(status, Resolved(response.as_object()));
    }
    out_ += "</table></details>";
  }

  void WriteParameter(const JsonObject& parameter) {
    out_ += "<tr><td>";
    Escaped(TextOf(parameter, "in"));
    out_ += "</td><td>";
    Code(TextOf(parameter, "name"));
    out_ += ' ';
    Escaped(TextOf(parameter, "description"));
    out_ += ' ';
    Code(boost::json::serialize(parameter.at("schema")));
    out_ += "</td></tr>";
  }

  void WriteResponse(std::string_view status, const JsonObject& response) {
    out_ += "<tr><td>";
    Escaped(status);
    out_ += "</td><td>";
    Escaped(TextOf(response, "description"));
    out_ += ' ';
    WriteContent(response);
    if (const JsonValue* headers = response.if_contains("headers")) {
      for (const auto& [name, header] : headers->as_object()) {
        out_ += ' ';
        Code(name);
      }
    }
    out_ += "</td></tr>";
  }

  void WriteContent(const JsonObject& holder) {
    const JsonValue* content = holder.if_contains("content");
    if (content == nullptr) {
      return;
    }
    for (const auto& [type, media] : content->as_object()) {
      Escaped(type);
      const std::string_view ref = TextOf(media.at("schema").as_object(), "$ref");
      if (!ref.empty()) {
        const std::string_view name = ref.substr(ref.rfind('/') + 1);
        out_ += " <a href=\"#schema-";
        Escaped(name);
        out_ += "\">";
        Code(name);
        out_ += "</a>";
      }
    }
  }

  void WriteSchemas() {
    out_ += "<h2>Schemas</h2>";
    for (const auto& [name, schema] : document_.at("components").at("schemas").as_object()) {
      out_ += "<details id=\"schema-";
      Escaped(name);
      out_ += "\"><summary>";
      Code(name);
      out_ += " <span class=\"s\">";
      Escaped(TextOf(schema.as_object(), "description"));
      out_ += "</span></summary>";
      WriteProperties(schema.as_object());
      out_ += "</details>";
    }
  }

  void WriteProperties(const JsonObject& schema) {
    const JsonValue* properties = schema.if_contains("properties");
    if (properties == nullptr) {
      out_ += "<pre>";
      Escaped(boost::json::serialize(schema));
      out_ += "</pre>";
      return;
    }
    out_ += "<table>";
    for (const auto& [name, property] : properties->as_object()) {
      out_ += "<tr><td>";
      Code(name);
      out_ += "</td><td>";
      Code(boost::json::serialize(property));
      out_ += "</td></tr>";
    }
    out_ += "</table>";
  }

  const JsonObject& document_;
  std::string out_;
};

}  // namespace

std::string OpenApiPage(const JsonObject& document) {
  return Page(document).Write();
}

}  // namespace api
